// sarama: sarama BOOTSTRAP CLIENT_ID TOPIC GROUP COUNT SECONDS VERSION sends COUNT records and waits for each, reads them in a group, and prints what
// came of it as a line of JSON.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strconv"
	"time"

	"github.com/IBM/sarama"
)

type end struct {
	Produced int    `json:"produced"`
	Consumed int    `json:"consumed"`
	Error    string `json:"error"`
}

var found end

func say() {
	text, _ := json.Marshal(found)
	fmt.Println(string(text))
	os.Exit(0)
}

type handler struct {
	count int
	stop  context.CancelFunc
}

func (handler) Setup(sarama.ConsumerGroupSession) error   { return nil }
func (handler) Cleanup(sarama.ConsumerGroupSession) error { return nil }
func (h handler) ConsumeClaim(session sarama.ConsumerGroupSession, claim sarama.ConsumerGroupClaim) error {
	for message := range claim.Messages() {
		session.MarkMessage(message, "")
		found.Consumed++
		if found.Consumed == h.count {
			go func() { time.Sleep(2500 * time.Millisecond); h.stop() }() // offsets are committed every second
		}
	}
	return nil
}

func main() {
	seconds, _ := strconv.Atoi(os.Args[6])
	count, _ := strconv.Atoi(os.Args[5])
	go func() {
		time.Sleep(time.Duration(seconds+5) * time.Second)
		found.Error = "ran to its time limit"
		say()
	}()
	config := sarama.NewConfig()
	config.ClientID = os.Args[2]
	config.Producer.Return.Successes = true
	config.Producer.Retry.Max = 1
	config.Consumer.Offsets.Initial = sarama.OffsetOldest
	version, err := sarama.ParseKafkaVersion(os.Args[7])
	if err != nil {
		panic(err)
	}
	config.Version = version
	producer, err := sarama.NewSyncProducer([]string{os.Args[1]}, config)
	for i := 0; err == nil && i < count; i++ {
		_, _, err = producer.SendMessage(&sarama.ProducerMessage{Topic: os.Args[3], Value: sarama.StringEncoder(fmt.Sprintf("record %d", i))})
		if err == nil {
			found.Produced++
		}
	}
	if err == nil {
		producer.Close()
		var group sarama.ConsumerGroup
		if group, err = sarama.NewConsumerGroup([]string{os.Args[1]}, os.Args[4], config); err == nil {
			waiting, stop := context.WithTimeout(context.Background(), time.Duration(seconds)*time.Second)
			for waiting.Err() == nil && err == nil {
				err = group.Consume(waiting, []string{os.Args[3]}, handler{count, stop})
			}
			group.Close()
		}
	}
	if err != nil {
		found.Error = err.Error()
	}
	say()
}
