// segmentio/kafka-go, which has no transactions: arguments, variables and output as in sarama.go.
package main

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"fmt"
	"os"
	"strconv"
	"time"

	"github.com/segmentio/kafka-go"
	"github.com/segmentio/kafka-go/sasl"
	"github.com/segmentio/kafka-go/sasl/plain"
	"github.com/segmentio/kafka-go/sasl/scram"
)

func must[T any](value T, err error) T {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	return value
}

func secured() *tls.Config {
	ca := os.Getenv("KAFKA_CA")
	if ca == "" {
		return nil
	}
	config := &tls.Config{RootCAs: x509.NewCertPool()}
	config.RootCAs.AppendCertsFromPEM(must(os.ReadFile(ca)))
	if cert := os.Getenv("KAFKA_CERT"); cert != "" {
		config.Certificates = []tls.Certificate{must(tls.LoadX509KeyPair(cert, os.Getenv("KAFKA_KEY")))}
	}
	return config
}

func authenticated() sasl.Mechanism {
	user, password := os.Getenv("KAFKA_USER"), os.Getenv("KAFKA_PASSWORD")
	switch os.Getenv("KAFKA_MECHANISM") {
	case "PLAIN":
		return plain.Mechanism{Username: user, Password: password}
	case "SCRAM-SHA-256":
		return must(scram.Mechanism(scram.SHA256, user, password))
	}
	return nil
}

func main() {
	address, topic := os.Args[1], os.Args[2]
	count := must(strconv.Atoi(os.Args[3])) + must(strconv.Atoi(os.Args[4]))
	waiting, stop := context.WithTimeout(context.Background(), 120*time.Second)
	defer stop()
	transport := &kafka.Transport{ClientID: "kafka-go", TLS: secured(), SASL: authenticated()}
	client := &kafka.Client{Addr: kafka.TCP(address), Transport: transport}
	created := must(client.CreateTopics(waiting, &kafka.CreateTopicsRequest{
		Topics: []kafka.TopicConfig{{Topic: topic, NumPartitions: 1, ReplicationFactor: 1}},
	}))
	must(0, created.Errors[topic])
	shown := []string{}
	for _, broker := range must(client.Metadata(waiting, &kafka.MetadataRequest{Topics: []string{topic}})).Brokers {
		shown = append(shown, fmt.Sprintf("%s:%d", broker.Host, broker.Port))
	}
	writer := &kafka.Writer{
		Addr: kafka.TCP(address), Topic: topic, Transport: transport, BatchSize: 1000, BatchTimeout: 5 * time.Millisecond,
		RequiredAcks: kafka.RequireAll, MaxAttempts: 60, // a broker may hear of a new topic long after the controller's answer
	}
	for first := 0; first < count; first += 5000 {
		var messages []kafka.Message
		for i := first; i < count && i < first+5000; i++ {
			messages = append(messages, kafka.Message{Value: []byte(fmt.Sprintf("record %d", i))})
		}
		must(0, writer.WriteMessages(waiting, messages...))
	}
	must(0, writer.Close())
	reader := kafka.NewReader(kafka.ReaderConfig{
		Brokers: []string{address}, Topic: topic, GroupID: topic, IsolationLevel: kafka.ReadCommitted, MaxWait: 500 * time.Millisecond,
		CommitInterval: 100 * time.Millisecond, Dialer: &kafka.Dialer{ClientID: "kafka-go", TLS: secured(), SASLMechanism: authenticated()},
	})
	came, inOrder := 0, true
	for came < count {
		message := must(reader.ReadMessage(waiting))
		inOrder = inOrder && string(message.Value) == fmt.Sprintf("record %d", came)
		came++
	}
	must(0, reader.Close())
	found := must(client.ListGroups(waiting, &kafka.ListGroupsRequest{}))
	known := false
	for _, group := range found.Groups {
		known = known || group.GroupID == topic
	}
	must(client.DeleteTopics(waiting, &kafka.DeleteTopicsRequest{Topics: []string{topic}}))
	text, _ := json.Marshal(map[string]any{"brokers": shown, "came": came, "in_order": inOrder && known})
	fmt.Println(string(text))
}
