// sarama: ADDRESS TOPIC COUNT sends COUNT numbers, one after the other, reads them in a group at the same time, and prints them as they came.
// KAFKA_CA, KAFKA_CERT and KAFKA_KEY are PEM files for TLS.
package main

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/IBM/sarama"
)

func must[T any](value T, err error) T {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	return value
}

var (
	lock  sync.Mutex
	seen  = map[string]bool{}
	count = must(strconv.Atoi(os.Args[3]))
)

type handler struct{ stop context.CancelFunc }

func (handler) Setup(sarama.ConsumerGroupSession) error   { return nil }
func (handler) Cleanup(sarama.ConsumerGroupSession) error { return nil }
func (h handler) ConsumeClaim(session sarama.ConsumerGroupSession, claim sarama.ConsumerGroupClaim) error {
	for message := range claim.Messages() {
		lock.Lock()
		number := strings.TrimSpace(string(message.Value))
		fmt.Print(number, " ")
		seen[number] = true
		if len(seen) == count {
			h.stop()
		}
		lock.Unlock()
		session.MarkMessage(message, "")
	}
	return nil
}

func main() {
	addresses, topic := []string{os.Args[1]}, os.Args[2]
	config := sarama.NewConfig()
	config.Version = sarama.V3_6_0_0
	config.Producer.Return.Successes = true
	config.Producer.RequiredAcks = sarama.WaitForAll
	config.Producer.Idempotent = true
	config.Net.MaxOpenRequests = 1
	config.Metadata.Retry.Max, config.Producer.Retry.Max = 1000, 1000
	config.Consumer.Offsets.Initial = sarama.OffsetOldest
	config.Consumer.IsolationLevel = sarama.ReadCommitted
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(must(os.ReadFile(os.Getenv("KAFKA_CA"))))
	pair := must(tls.LoadX509KeyPair(os.Getenv("KAFKA_CERT"), os.Getenv("KAFKA_KEY")))
	config.Net.TLS.Enable, config.Net.TLS.Config = true, &tls.Config{RootCAs: pool, Certificates: []tls.Certificate{pair}}

	waiting := make(chan bool, 100)
	producer := must(sarama.NewAsyncProducer(addresses, config))
	go func() {
		for i := 0; i < count; i++ {
			waiting <- true
			producer.Input() <- &sarama.ProducerMessage{Topic: topic, Value: sarama.StringEncoder(fmt.Sprintf("%-900d", i))}
			time.Sleep(3 * time.Millisecond)
		}
	}()
	go func() {
		for err := range producer.Errors() {
			must(0, err)
		}
	}()
	group := must(sarama.NewConsumerGroup(addresses, topic, config))
	running, stop := context.WithCancel(context.Background())
	go func() {
		for range producer.Successes() {
			<-waiting
		}
	}()
	for running.Err() == nil {
		if err := group.Consume(running, []string{topic}, handler{stop}); err != nil {
			time.Sleep(100 * time.Millisecond)
		}
	}
	fmt.Println()
}
