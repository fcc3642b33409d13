// segmentio/kafka-go: arguments and output as in sarama.go.
package main

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"time"

	"github.com/segmentio/kafka-go"
)

func main() {
	seconds, _ := strconv.Atoi(os.Args[3])
	until := time.Now().Add(time.Duration(seconds) * time.Second)
	waiting, stop := context.WithDeadline(context.Background(), until.Add(30*time.Second))
	defer stop()
	transport := &kafka.Transport{ClientID: "refused"}
	writer := &kafka.Writer{Addr: kafka.TCP(os.Args[1]), Topic: os.Args[2], Transport: transport, RequiredAcks: kafka.RequireAll}
	var last error
	for time.Now().Before(until) {
		last = writer.WriteMessages(waiting, kafka.Message{Value: []byte("record")})
	}
	fmt.Println(last)
}
