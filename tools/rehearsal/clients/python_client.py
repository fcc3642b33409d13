"""A Python library at work: python_client.py LIBRARY BOOTSTRAP CLIENT_ID TOPIC GROUP COUNT SECONDS

Sends COUNT records and waits for each, reads them in a group, commits, and prints what came of it as a line of JSON. Old builds need
Python 3.6, so it runs on that.
"""

import json
import sys
import threading
import time

LIBRARY, BOOTSTRAP, CLIENT_ID, TOPIC, GROUP = sys.argv[1:6]
COUNT, SECONDS = int(sys.argv[6]), float(sys.argv[7])
UNTIL = time.time() + SECONDS
VALUES = [f"record {number}".encode() for number in range(COUNT)]
END = {"produced": 0, "consumed": 0, "error": ""}


def kafka_python():
    import kafka

    producer = kafka.KafkaProducer(bootstrap_servers=BOOTSTRAP, client_id=CLIENT_ID, retries=0, request_timeout_ms=5000, max_block_ms=10000)
    for sent in [producer.send(TOPIC, value) for value in VALUES]:
        sent.get(10)
        END["produced"] += 1
    producer.close()
    given = {"group_id": GROUP, "auto_offset_reset": "earliest", "consumer_timeout_ms": 1000, "enable_auto_commit": False}
    consumer = kafka.KafkaConsumer(TOPIC, bootstrap_servers=BOOTSTRAP, client_id=CLIENT_ID, **given)
    while END["consumed"] < COUNT and time.time() < UNTIL:
        for _ in consumer:
            END["consumed"] += 1
            if END["consumed"] == COUNT:
                break
    consumer.commit()
    consumer.close()


def confluent():
    import confluent_kafka

    given = {"bootstrap.servers": BOOTSTRAP, "client.id": CLIENT_ID}
    producer = confluent_kafka.Producer(dict(given, **{"message.timeout.ms": 10000}))

    def delivered(error, _):
        if error is None:
            END["produced"] += 1
        else:
            END["error"] = error.name()

    for value in VALUES:
        producer.produce(TOPIC, value, callback=delivered)
    producer.flush(15)
    if END["error"]:
        return
    reading = {"group.id": GROUP, "auto.offset.reset": "earliest", "enable.auto.commit": False}
    consumer = confluent_kafka.Consumer(dict(given, **reading))
    consumer.subscribe([TOPIC])
    while END["consumed"] < COUNT and time.time() < UNTIL:
        message = consumer.poll(0.5)
        if message is None:
            continue
        if message.error() is None:
            END["consumed"] += 1
        elif message.error().name() not in ("_PARTITION_EOF", "COORDINATOR_NOT_AVAILABLE"):
            END["error"] = message.error().name()
            break
    if END["consumed"]:
        consumer.commit(**{"async": False} if confluent_kafka.version()[0] < "1" else {"asynchronous": False})
    consumer.close()


def aiokafka():
    import asyncio

    import aiokafka

    async def work(loop):
        needs_loop = {"loop": loop} if aiokafka.__version__ < "0.7" else {}
        producer = aiokafka.AIOKafkaProducer(bootstrap_servers=BOOTSTRAP, client_id=CLIENT_ID, request_timeout_ms=5000, **needs_loop)
        await producer.start()
        for value in VALUES:
            await producer.send_and_wait(TOPIC, value)
            END["produced"] += 1
        await producer.stop()
        given = {"group_id": GROUP, "auto_offset_reset": "earliest", "enable_auto_commit": False}
        consumer = aiokafka.AIOKafkaConsumer(TOPIC, bootstrap_servers=BOOTSTRAP, client_id=CLIENT_ID, **given, **needs_loop)
        await consumer.start()
        while END["consumed"] < COUNT and time.time() < UNTIL:
            for records in (await consumer.getmany(timeout_ms=500)).values():
                END["consumed"] += len(records)
        await consumer.commit()
        await consumer.stop()

    loop = asyncio.new_event_loop()
    asyncio.set_event_loop(loop)
    loop.run_until_complete(work(loop))


def pykafka():
    import pykafka

    pykafka.broker.CLIENT_ID = CLIENT_ID
    client = pykafka.KafkaClient(hosts=BOOTSTRAP)
    topic = client.topics[TOPIC.encode()]
    producer = topic.get_sync_producer(max_retries=1)
    for value in VALUES:
        producer.produce(value)
        END["produced"] += 1
    producer.stop()
    consumer = topic.get_balanced_consumer(
        consumer_group=GROUP.encode(), managed=True, auto_offset_reset=pykafka.common.OffsetType.EARLIEST, consumer_timeout_ms=1000
    )
    while END["consumed"] < COUNT and time.time() < UNTIL:
        if consumer.consume() is not None:
            END["consumed"] += 1
    consumer.commit_offsets()
    consumer.stop()


def say():
    """Print the result and end the process with all threads of the library."""
    import os

    print(json.dumps(END), flush=True)
    os._exit(0)


def work():
    try:
        {"kafka-python": kafka_python, "confluent-kafka": confluent, "aiokafka": aiokafka, "pykafka": pykafka}[LIBRARY]()
    except Exception as error:  # noqa: BLE001 - how it failed is the result
        END["error"] = type(error).__name__
    say()


thread = threading.Thread(target=work, daemon=True)
thread.start()
thread.join(SECONDS + 5)
END["error"] = END["error"] or "ran to its time limit"
say()
