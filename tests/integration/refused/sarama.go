// sarama: ADDRESS TOPIC SECONDS sends records with an idempotent producer, tries again at once after each error until the time is over, and prints
// the last error.
package main

import (
	"fmt"
	"os"
	"strconv"
	"time"

	"github.com/IBM/sarama"
)

func try(address, topic string) error {
	config := sarama.NewConfig()
	config.Version = sarama.V3_6_0_0
	config.ClientID = "refused"
	config.Producer.Return.Successes = true
	config.Producer.RequiredAcks = sarama.WaitForAll
	config.Producer.Idempotent = true
	config.Net.MaxOpenRequests = 1
	producer, err := sarama.NewSyncProducer([]string{address}, config)
	if err != nil {
		return err
	}
	defer producer.Close()
	for err == nil {
		_, _, err = producer.SendMessage(&sarama.ProducerMessage{Topic: topic, Value: sarama.StringEncoder("record")})
	}
	return err
}

func main() {
	seconds, _ := strconv.Atoi(os.Args[3])
	until := time.Now().Add(time.Duration(seconds) * time.Second)
	var last error
	for time.Now().Before(until) {
		last = try(os.Args[1], os.Args[2])
	}
	fmt.Println(last)
}
