// segmentio/kafka-go: kafka-go BOOTSTRAP CLIENT_ID TOPIC GROUP COUNT SECONDS sends COUNT records and waits for each, reads them in a group, and prints
// what came of it as a line of JSON.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strconv"
	"time"

	"github.com/segmentio/kafka-go"
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

func main() {
	seconds, _ := strconv.Atoi(os.Args[6])
	count, _ := strconv.Atoi(os.Args[5])
	go func() {
		time.Sleep(time.Duration(seconds+5) * time.Second)
		found.Error = "ran to its time limit"
		say()
	}()
	dialer := &kafka.Dialer{ClientID: os.Args[2], Timeout: 5 * time.Second}
	brokers := []string{os.Args[1]}
	writer := kafka.NewWriter(kafka.WriterConfig{
		Brokers: brokers, Topic: os.Args[3], Dialer: dialer, MaxAttempts: 2, BatchTimeout: 10 * time.Millisecond, Balancer: &kafka.LeastBytes{},
	})
	waiting, stop := context.WithTimeout(context.Background(), 10*time.Second)
	var messages []kafka.Message
	for i := 0; i < count; i++ {
		messages = append(messages, kafka.Message{Value: []byte(fmt.Sprintf("record %d", i))})
	}
	err := writer.WriteMessages(waiting, messages...)
	stop()
	if err == nil {
		found.Produced = count
		writer.Close()
		reader := kafka.NewReader(kafka.ReaderConfig{
			Brokers: brokers, Topic: os.Args[3], GroupID: os.Args[4], Dialer: dialer, MinBytes: 1, MaxBytes: 1 << 20, MaxWait: 500 * time.Millisecond,
		})
		waiting, _ = context.WithTimeout(context.Background(), time.Duration(seconds)*time.Second)
		for err == nil && found.Consumed < count {
			if _, err = reader.ReadMessage(waiting); err == nil {
				found.Consumed++
			}
		}
		reader.Close()
	}
	if err != nil {
		found.Error = err.Error()
	}
	say()
}
