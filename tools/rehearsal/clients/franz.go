// franz-go: franz BOOTSTRAP CLIENT_ID TOPIC GROUP COUNT SECONDS sends COUNT records and waits for each, reads them in a group, and prints what came of
// it as a line of JSON.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strconv"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
)

type end struct {
	Produced int    `json:"produced"`
	Consumed int    `json:"consumed"`
	Error    string `json:"error"`
}

func main() {
	seconds, _ := strconv.Atoi(os.Args[6])
	count, _ := strconv.Atoi(os.Args[5])
	var found end
	err := work(&found, count, time.Duration(seconds)*time.Second)
	if err != nil {
		found.Error = err.Error()
	}
	text, _ := json.Marshal(found)
	fmt.Println(string(text))
}

func work(found *end, count int, limit time.Duration) error {
	waiting, stop := context.WithTimeout(context.Background(), limit)
	defer stop()
	client, err := kgo.NewClient(
		kgo.SeedBrokers(os.Args[1]), kgo.ClientID(os.Args[2]), kgo.ConsumeTopics(os.Args[3]), kgo.ConsumerGroup(os.Args[4]),
		kgo.DisableAutoCommit(), kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()), kgo.RecordDeliveryTimeout(10*time.Second),
	)
	if err != nil {
		return err
	}
	defer client.Close()
	for i := 0; i < count; i++ {
		record := &kgo.Record{Topic: os.Args[3], Value: []byte(fmt.Sprintf("record %d", i))}
		if err := client.ProduceSync(waiting, record).FirstErr(); err != nil {
			return err
		}
		found.Produced++
	}
	for found.Consumed < count {
		fetches := client.PollFetches(waiting)
		if err := fetches.Err(); err != nil {
			return err
		}
		found.Consumed += fetches.NumRecords()
	}
	return client.CommitUncommittedOffsets(waiting)
}
