// kafkajs: arguments, variables and output as in sarama.go. It runs in the folder where kafkajs is installed.
const { readFileSync } = require('fs')
const { createRequire } = require('module')
const { Kafka, logLevel } = createRequire(process.cwd() + '/package.json')('kafkajs')
const [address, topic, count] = process.argv.slice(2)
const { KAFKA_CA, KAFKA_CERT, KAFKA_KEY } = process.env
const ssl = { ca: [readFileSync(KAFKA_CA)], cert: readFileSync(KAFKA_CERT), key: readFileSync(KAFKA_KEY) }
const retry = { retries: 1000, maxRetryTime: 500 }
const kafka = new Kafka({ brokers: [address], logLevel: logLevel.NOTHING, ssl, retry })

async function send () {
  const producer = kafka.producer({ idempotent: true, maxInFlightRequests: 1 })
  await producer.connect()
  for (let number = 0; number < Number(count); number++) {
    await producer.send({ topic, messages: [{ value: String(number).padEnd(900) }] })
    await new Promise(resolve => setTimeout(resolve, 3))
  }
}

async function read () {
  const consumer = kafka.consumer({ groupId: topic })
  await consumer.connect()
  await consumer.subscribe({ topic, fromBeginning: true })
  const found = []
  const seen = new Set()
  await new Promise(resolve => consumer.run({
    eachMessage: async ({ message }) => {
      const number = message.value.toString().trim()
      found.push(number)
      if (seen.add(number).size === Number(count)) resolve()
    }
  }))
  console.log(found.join(' '))
}
Promise.all([send(), read()]).then(() => process.exit(0), error => { console.error(error); process.exit(1) })
