// Program main calls an agent with the client of the official Go SDK, and prints the error of each streaming call that is refused.
package main

import (
	"context"
	"fmt"
	"iter"
	"os"
	"time"

	"github.com/a2aproject/a2a-go/a2a"
	"github.com/a2aproject/a2a-go/a2aclient"
)

func main() {
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	endpoint := a2a.AgentInterface{URL: os.Args[1], Transport: a2a.TransportProtocolJSONRPC}
	client, err := a2aclient.NewFromEndpoints(ctx, []a2a.AgentInterface{endpoint})
	if err != nil {
		fmt.Println("no client:", err)
		os.Exit(1)
	}
	unknown := a2a.TaskID("00000000-0000-0000-0000-000000000000")
	message := a2a.NewMessage(a2a.MessageRoleUser, a2a.TextPart{Text: "hello"})
	tell("stream", client.SendStreamingMessage(ctx, &a2a.MessageSendParams{Message: message}))
	message = a2a.NewMessage(a2a.MessageRoleUser, a2a.TextPart{Text: "hello"})
	message.TaskID = unknown
	tell("stream to an unknown task", client.SendStreamingMessage(ctx, &a2a.MessageSendParams{Message: message}))
	tell("subscribe to an unknown task", client.ResubscribeToTask(ctx, &a2a.TaskIDParams{ID: unknown}))
}

func tell(call string, events iter.Seq2[a2a.Event, error]) {
	count := 0
	for _, err := range events {
		if err != nil {
			fmt.Printf("%s: %v\n", call, err)
			return
		}
		count++
	}
	fmt.Printf("%s: %d events\n", call, count)
}
