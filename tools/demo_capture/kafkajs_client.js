// One application of the demo: node kafkajs_client.js BOOTSTRAP CLIENT_ID SECONDS TOPIC GROUP
const { Kafka, logLevel } = require('kafkajs')
const [bootstrap, clientId, seconds, topic, groupId] = process.argv.slice(2)
const kafka = new Kafka({ clientId, brokers: bootstrap.split(','), logLevel: logLevel.NOTHING })

async function main() {
  const consumer = kafka.consumer({ groupId, maxWaitTimeInMs: 3000 })
  await consumer.connect()
  await consumer.subscribe({ topic, fromBeginning: true })
  await consumer.run({ eachMessage: async () => {} })
  setTimeout(async () => { await consumer.disconnect(); process.exit(0) }, seconds * 1000)
}
main()
