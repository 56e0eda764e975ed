// Tests a running server with Google's Go client: FIRESTORE_EMULATOR_HOST=ADDRESS client
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"reflect"
	"sync"
	"time"

	"cloud.google.com/go/firestore"
	"google.golang.org/api/iterator"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

type book struct {
	Title  string    `firestore:"title"`
	Pages  int       `firestore:"pages"`
	Tags   []string  `firestore:"tags"`
	Stored time.Time `firestore:"stored,serverTimestamp"`
}

// Values of all types return as they were written, and changes apply to single fields.
func documents(ctx context.Context, client *firestore.Client) error {
	here := client.Collection("go-documents")
	reference := here.Doc("hitchhiker")
	if _, err := reference.Create(ctx, book{Title: "The Hitchhiker's Guide", Pages: 224, Tags: []string{"fun"}}); err != nil {
		return err
	}
	_, err := reference.Update(ctx, []firestore.Update{
		{Path: "pages", Value: firestore.Increment(592)},
		{Path: "tags", Value: firestore.ArrayUnion("series")},
	})
	if err != nil {
		return err
	}
	snapshot, err := reference.Get(ctx)
	if err != nil {
		return err
	}
	var found book
	if err := snapshot.DataTo(&found); err != nil {
		return err
	}
	if found.Stored.IsZero() || snapshot.UpdateTime.Before(snapshot.CreateTime) {
		return fmt.Errorf("times: %v, %v, %v", found.Stored, snapshot.CreateTime, snapshot.UpdateTime)
	}
	if found.Title != "The Hitchhiker's Guide" || found.Pages != 816 {
		return fmt.Errorf("found %v", found)
	}
	if err := equal(found.Tags, []string{"fun", "series"}); err != nil {
		return err
	}
	values := map[string]interface{}{
		"null": nil, "bool": true, "int": int64(1) << 62, "double": 0.5, "text": "é😀", "bytes": []byte{0, 255},
		"time": time.Date(2026, 1, 2, 3, 4, 5, 6000, time.UTC), "array": []interface{}{int64(1), "a"},
		"map": map[string]interface{}{"a": map[string]interface{}{}},
	}
	if _, err := here.Doc("values").Set(ctx, values); err != nil {
		return err
	}
	if snapshot, err = here.Doc("values").Get(ctx); err != nil {
		return err
	}
	if err := equal(snapshot.Data(), values); err != nil {
		return err
	}
	if _, err := here.Doc("values").Set(ctx, map[string]interface{}{"text": "new"}, firestore.MergeAll); err != nil {
		return err
	}
	snapshots, err := client.GetAll(ctx, []*firestore.DocumentRef{here.Doc("values"), here.Doc("missing")})
	if err != nil {
		return err
	}
	if text, _ := snapshots[0].DataAt("text"); text != "new" || snapshots[1].Exists() {
		return fmt.Errorf("found %v, %v", text, snapshots[1].Exists())
	}
	if _, err := client.Batch().Delete(reference).Delete(here.Doc("values")).Commit(ctx); err != nil {
		return err
	}
	rest, err := here.DocumentRefs(ctx).GetAll()
	if err != nil {
		return err
	}
	return equal(len(rest), 0)
}

// Queries filter, order, page and project, also over collection groups.
func queries(ctx context.Context, client *firestore.Client) error {
	here := client.Collection("go-queries")
	batch := client.Batch()
	for number := 0; number < 20; number++ {
		fields := map[string]interface{}{"n": number, "even": number%2 == 0}
		batch.Set(here.Doc(fmt.Sprintf("%02d", number)), fields)
		batch.Set(here.Doc("00").Collection("go-group").Doc(fmt.Sprint(number)), fields)
	}
	if _, err := batch.Commit(ctx); err != nil {
		return err
	}
	even := here.Where("even", "==", true).OrderBy("n", firestore.Desc)
	for _, test := range []struct {
		query  firestore.Query
		wanted []int64
	}{
		{even.Limit(3), []int64{18, 16, 14}},
		{even.StartAfter(14).Limit(2), []int64{12, 10}},
		{even.Offset(8), []int64{2, 0}},
		{here.Where("n", "in", []int{3, 5, 99}), []int64{3, 5}},
		{here.OrderBy(firestore.DocumentID, firestore.Asc).EndBefore("02").Select("n"), []int64{0, 1}},
		{client.CollectionGroup("go-group").Where("n", ">", 17).OrderBy("n", firestore.Asc), []int64{18, 19}},
	} {
		found := []int64{}
		results := test.query.Documents(ctx)
		for {
			snapshot, err := results.Next()
			if errors.Is(err, iterator.Done) {
				break
			}
			if err != nil {
				return err
			}
			found = append(found, snapshot.Data()["n"].(int64))
		}
		if err := equal(found, test.wanted); err != nil {
			return err
		}
	}
	return nil
}

// Transactions that conflict are repeated by the client until all have taken effect.
func transactions(ctx context.Context, client *firestore.Client) error {
	counter := client.Doc("go-transactions/counter")
	if _, err := counter.Set(ctx, map[string]interface{}{"n": 0}); err != nil {
		return err
	}
	const count = 8
	failures := make(chan error, count)
	var group sync.WaitGroup
	for number := 0; number < count; number++ {
		group.Add(1)
		go func() {
			defer group.Done()
			failures <- client.RunTransaction(ctx, func(ctx context.Context, transaction *firestore.Transaction) error {
				snapshot, err := transaction.Get(counter)
				if err != nil {
					return err
				}
				return transaction.Set(counter, map[string]interface{}{"n": snapshot.Data()["n"].(int64) + 1})
			}, firestore.MaxAttempts(50))
		}()
	}
	group.Wait()
	close(failures)
	for err := range failures {
		if err != nil {
			return err
		}
	}
	snapshot, err := counter.Get(ctx)
	if err != nil {
		return err
	}
	return equal(snapshot.Data()["n"], int64(count))
}

// Errors have the codes that programs test for.
func failures(ctx context.Context, client *firestore.Client) error {
	here := client.Collection("go-failures")
	fields := map[string]interface{}{"a": 1}
	if _, err := here.Doc("found").Set(ctx, fields); err != nil {
		return err
	}
	_, missing := here.Doc("missing").Get(ctx)
	_, existing := here.Doc("found").Create(ctx, fields)
	_, updated := here.Doc("missing").Update(ctx, []firestore.Update{{Path: "a", Value: 1}})
	_, outdated := here.Doc("found").Delete(ctx, firestore.LastUpdateTime(time.Unix(1, 0)))
	_, invalid := here.Doc("__reserved__").Set(ctx, fields)
	for number, test := range []struct {
		err    error
		wanted codes.Code
	}{
		{missing, codes.NotFound}, {existing, codes.AlreadyExists}, {updated, codes.NotFound},
		{outdated, codes.FailedPrecondition}, {invalid, codes.InvalidArgument},
	} {
		if status.Code(test.err) != test.wanted {
			return fmt.Errorf("%d: expected %v, got %v", number, test.wanted, test.err)
		}
	}
	return nil
}

// A listener receives the documents of its query, and then each change.
func listeners(ctx context.Context, client *firestore.Client) error {
	here := client.Collection("go-listeners")
	if _, err := here.Doc("a").Set(ctx, map[string]interface{}{"n": 1}); err != nil {
		return err
	}
	snapshots := here.OrderBy("n", firestore.Asc).Snapshots(ctx)
	defer snapshots.Stop()
	for _, step := range []struct {
		change func() error
		kinds  []firestore.DocumentChangeKind
	}{
		{func() error { return nil }, []firestore.DocumentChangeKind{firestore.DocumentAdded}},
		{
			func() error { _, err := here.Doc("a").Set(ctx, map[string]interface{}{"n": 2}); return err },
			[]firestore.DocumentChangeKind{firestore.DocumentModified},
		},
		{
			func() error { _, err := here.Doc("a").Delete(ctx); return err },
			[]firestore.DocumentChangeKind{firestore.DocumentRemoved},
		},
	} {
		if err := step.change(); err != nil {
			return err
		}
		snapshot, err := snapshots.Next()
		if err != nil {
			return err
		}
		kinds := []firestore.DocumentChangeKind{}
		for _, change := range snapshot.Changes {
			kinds = append(kinds, change.Kind)
		}
		if err := equal(kinds, step.kinds); err != nil {
			return err
		}
	}
	return nil
}

func equal(found, wanted interface{}) error {
	if !reflect.DeepEqual(found, wanted) {
		return fmt.Errorf("expected %v, got %v", wanted, found)
	}
	return nil
}

func main() {
	// For calls that hang.
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Minute)
	defer cancel()
	client, err := firestore.NewClient(ctx, "go-client")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	type check struct {
		name string
		run  func(context.Context, *firestore.Client) error
	}
	checks := []check{
		{"documents", documents}, {"queries", queries}, {"transactions", transactions}, {"failures", failures}, {"listeners", listeners},
	}
	for _, check := range checks {
		if err := check.run(ctx, client); err != nil {
			fmt.Fprintf(os.Stderr, "FAILED  Go client: %s: %v\n", check.name, err)
			os.Exit(1)
		}
		fmt.Printf("ok      Go client: %s\n", check.name)
	}
}
