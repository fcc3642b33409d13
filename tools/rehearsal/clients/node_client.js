// A JavaScript library at work: node node_client.js LIBRARY BOOTSTRAP CLIENT_ID TOPIC GROUP COUNT SECONDS
// Sends COUNT records and waits for each, reads them in a group, commits, and prints what came of it as a line of JSON.
const { createRequire } = require('module')
const [library, bootstrap, clientId, topic, groupId, wanted, seconds] = process.argv.slice(2)
const installed = createRequire(process.cwd() + '/package.json') // the build lies in the folder where this runs
const count = Number(wanted)
const end = { produced: 0, consumed: 0, error: '' }
const pause = (ms) => new Promise((done) => setTimeout(done, ms))
const until = Date.now() + Number(seconds) * 1000
const values = Array.from({ length: count }, (_, number) => `record ${number}`)

function say () {
  console.log(JSON.stringify(end))
  process.exit(0)
}

async function allCame () {
  while (end.consumed < count && Date.now() < until) await pause(100)
}

async function kafkajs () {
  const { Kafka, logLevel } = installed('kafkajs')
  const kafka = new Kafka({ clientId, brokers: [bootstrap], logLevel: logLevel.NOTHING, retry: { retries: 2 }, requestTimeout: 5000 })
  const producer = kafka.producer()
  await producer.connect()
  for (const value of values) {
    await producer.send({ topic, messages: [{ key: value, value }] }) // 1.4 wants a key
    end.produced++
  }
  await producer.disconnect()
  const consumer = kafka.consumer({ groupId, autoCommitThreshold: count })
  await consumer.connect()
  await consumer.subscribe({ topic, fromBeginning: true })
  await consumer.run({ eachMessage: async () => { end.consumed++ } })
  await allCame()
  await pause(1000)
  await consumer.disconnect()
}

async function noKafka () {
  const Kafka = installed('no-kafka')
  const given = { connectionString: bootstrap, clientId, logger: { logLevel: 0 } }
  const producer = new Kafka.Producer({ ...given, retries: { attempts: 2, delay: { min: 100, max: 500 } } })
  await producer.init()
  for (const value of values) {
    const [sent] = await producer.send({ topic, partition: 0, message: { value } })
    if (sent.error) throw sent.error
    end.produced++
  }
  await producer.end()
  const consumer = new Kafka.GroupConsumer({ ...given, groupId, startingOffset: Kafka.EARLIEST_OFFSET, idleTimeout: 200 })
  await consumer.init([{
    subscriptions: [topic],
    handler: async (messages, topic, partition) => {
      end.consumed += messages.length
      await consumer.commitOffset({ topic, partition, offset: messages[messages.length - 1].offset })
    }
  }])
  await allCame()
  await pause(1000)
  await consumer.end()
}

async function platformatic () {
  const { Producer, Consumer, stringSerializers, stringDeserializers } = await import(installed.resolve('@platformatic/kafka'))
  const given = { clientId, bootstrapBrokers: [bootstrap], retries: 2 }
  const producer = new Producer({ ...given, serializers: stringSerializers })
  for (const value of values) {
    await producer.send({ messages: [{ topic, value }] })
    end.produced++
  }
  await producer.close()
  const consumer = new Consumer({ ...given, groupId, deserializers: stringDeserializers })
  const stream = await consumer.consume({ topics: [topic], mode: 'earliest', autocommit: 200 })
  stream.on('data', () => { end.consumed++ })
  await allCame()
  await pause(1000)
  await stream.close()
  await consumer.close()
}

setTimeout(() => {
  end.error = end.error || 'ran to its time limit'
  say()
}, (Number(seconds) + 5) * 1000)
const work = { kafkajs, 'no-kafka': noKafka, '@platformatic/kafka': platformatic }[library]
work().catch((error) => { console.error(error); end.error = error.name || error.constructor.name }).finally(say)
