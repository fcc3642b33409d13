// franz-go: arguments, variables and output as in sarama.go.
package main

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
)

func must[T any](value T, err error) T {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	return value
}

func main() {
	topic, count := os.Args[2], must(strconv.Atoi(os.Args[3]))
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(must(os.ReadFile(os.Getenv("KAFKA_CA"))))
	pair := must(tls.LoadX509KeyPair(os.Getenv("KAFKA_CERT"), os.Getenv("KAFKA_KEY")))
	client := must(kgo.NewClient(
		kgo.SeedBrokers(os.Args[1]), kgo.ConsumeTopics(topic), kgo.ConsumerGroup(topic), kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()),
		kgo.FetchIsolationLevel(kgo.ReadCommitted()), kgo.DialTLSConfig(&tls.Config{RootCAs: pool, Certificates: []tls.Certificate{pair}}),
		kgo.MaxBufferedRecords(100),
	))
	waiting := context.Background()
	go func() {
		for i := 0; i < count; i++ {
			record := &kgo.Record{Topic: topic, Value: []byte(fmt.Sprintf("%-900d", i))}
			client.Produce(waiting, record, func(_ *kgo.Record, err error) { must(0, err) })
			time.Sleep(3 * time.Millisecond)
		}
	}()
	seen := map[string]bool{}
	for len(seen) < count {
		client.PollFetches(waiting).EachRecord(func(record *kgo.Record) {
			number := strings.TrimSpace(string(record.Value))
			fmt.Print(number, " ")
			seen[number] = true
		})
	}
	fmt.Println()
	client.Close()
}
