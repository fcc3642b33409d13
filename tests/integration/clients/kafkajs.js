// kafkajs: arguments, variables and output as in sarama.go. It runs in the folder where kafkajs is installed.
const { readFileSync } = require('fs')
const { createRequire } = require('module')
const { Kafka, logLevel } = createRequire(process.cwd() + '/package.json')('kafkajs')
const [address, topic, count, inTransaction] = process.argv.slice(2)
const { KAFKA_CA, KAFKA_CERT, KAFKA_KEY, KAFKA_MECHANISM, KAFKA_USER, KAFKA_PASSWORD } = process.env
const sent = Number(count)
const all = sent + Number(inTransaction)
const ssl = KAFKA_CA
  ? { ca: [readFileSync(KAFKA_CA)], ...(KAFKA_CERT ? { cert: readFileSync(KAFKA_CERT), key: readFileSync(KAFKA_KEY) } : {}) }
  : undefined
const sasl = KAFKA_MECHANISM ? { mechanism: KAFKA_MECHANISM.toLowerCase(), username: KAFKA_USER, password: KAFKA_PASSWORD } : undefined
// a broker may hear of a new topic long after the controller's answer, on a machine that is busy
const retry = { retries: 60, maxRetryTime: 500 }
const kafka = new Kafka({ clientId: 'kafkajs', brokers: [address], logLevel: logLevel.ERROR, ssl, sasl, retry })
const batch = (first, end) => Array.from({ length: end - first }, (_, number) => ({ value: `record ${first + number}` }))

async function main () {
  const admin = kafka.admin()
  await admin.connect()
  await admin.createTopics({ topics: [{ topic, numPartitions: 1, replicationFactor: 1 }], waitForLeaders: true })
  const brokers = (await admin.describeCluster()).brokers.map(({ host, port }) => `${host}:${port}`)
  const producer = kafka.producer()
  await producer.connect()
  for (let first = 0; first < sent; first += 1000) {
    await producer.send({ topic, messages: batch(first, Math.min(first + 1000, sent)) })
  }
  await producer.disconnect()
  const transactional = kafka.producer({ transactionalId: topic, idempotent: true, maxInFlightRequests: 1 })
  await transactional.connect()
  const transaction = await transactional.transaction()
  await transaction.send({ topic, messages: batch(sent, all) })
  await transaction.commit()
  await transactional.disconnect()
  const consumer = kafka.consumer({ groupId: topic })
  await consumer.connect()
  await consumer.subscribe({ topic, fromBeginning: true })
  let came = 0
  let inOrder = true
  await new Promise((resolve, reject) => {
    setTimeout(() => reject(new Error(`${came} records in 90 s`)), 90000).unref()
    consumer.run({
      eachMessage: async ({ message }) => {
        inOrder = inOrder && message.value.toString() === `record ${came}`
        came += 1
        if (came === all) resolve()
      }
    })
  })
  await consumer.disconnect()
  const known = (await admin.listGroups()).groups.some(({ groupId }) => groupId === topic)
  await admin.deleteTopics({ topics: [topic] })
  await admin.disconnect()
  console.log(JSON.stringify({ brokers, came, in_order: inOrder && known }))
}
main().then(() => process.exit(0), (error) => { console.error(error); process.exit(1) })
