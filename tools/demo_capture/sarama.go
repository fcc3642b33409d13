// One application of the demo: sarama BOOTSTRAP CLIENT_ID SECONDS TOPIC VERSION
package main

import (
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/IBM/sarama"
)

func main() {
	config := sarama.NewConfig()
	config.ClientID = os.Args[2]
	config.Producer.Return.Successes = true
	version, err := sarama.ParseKafkaVersion(os.Args[5])
	if err != nil {
		panic(err)
	}
	config.Version = version
	producer, err := sarama.NewSyncProducer(strings.Split(os.Args[1], ","), config)
	if err != nil {
		panic(err)
	}
	seconds, _ := strconv.Atoi(os.Args[3])
	for end := time.Now().Add(time.Duration(seconds) * time.Second); time.Now().Before(end); time.Sleep(1500 * time.Millisecond) {
		producer.SendMessage(&sarama.ProducerMessage{Topic: os.Args[4], Value: sarama.StringEncoder(strings.Repeat(".", 60))})
	}
	producer.Close()
}
