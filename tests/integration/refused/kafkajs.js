// kafkajs: arguments and output as in sarama.go. It runs in the folder where kafkajs is installed.
const { createRequire } = require('module')
const { Kafka, logLevel } = createRequire(process.cwd() + '/package.json')('kafkajs')
const [address, topic, seconds] = process.argv.slice(2)
const kafka = new Kafka({ clientId: 'refused', brokers: [address], logLevel: logLevel.NOTHING })

async function main () {
  const until = Date.now() + Number(seconds) * 1000
  let last
  while (Date.now() < until) {
    const producer = kafka.producer({ idempotent: true, maxInFlightRequests: 1 })
    try {
      await producer.connect()
      await producer.send({ topic, messages: [{ value: 'record' }] })
    } catch (error) {
      last = error
    }
    await producer.disconnect().catch(() => {})
  }
  console.log(String(last))
  process.exit(0)
}

main()
