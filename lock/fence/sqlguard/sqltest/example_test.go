package sqltest

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log"

	"locksim/lock/fence"
	"locksim/lock/fence/sqlguard"
)

func Example() {
	db, err := sql.Open("sqlite", ":memory:")
	if err != nil {
		log.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	db.SetMaxOpenConns(1) // each connection has its own database
	if _, err := db.Exec(`
		CREATE TABLE accounts (
			id            INTEGER PRIMARY KEY,
			balance       INTEGER NOT NULL,
			fence_token   BIGINT  NOT NULL DEFAULT 0,
			fence_version BIGINT  NOT NULL DEFAULT 0
		);
		INSERT INTO accounts (id, balance) VALUES (42, 10);
	`); err != nil {
		log.Fatal(err)
	}
	guard, err := sqlguard.New(sqlguard.Options{Mode: fence.Seal, Table: "accounts"})
	if err != nil {
		log.Fatal(err)
	}

	ctx := context.Background()
	var balance int
	read := sqlguard.Column{Name: "balance", Value: &balance}
	first, next := fence.Op{Token: 33}, fence.Op{Token: 34} // lease.Token() of two grants
	if _, err := guard.Read(ctx, db, 42, first, read); err != nil {
		log.Fatal(err)
	}
	// The first holder is paused here until its lease has ended, and the next one is granted the lock.
	if _, err := guard.Read(ctx, db, 42, next, read); err != nil {
		log.Fatal(err)
	}
	err = guard.Write(ctx, db, 42, first, sqlguard.Column{Name: "balance", Value: balance + 1})
	fmt.Println(err)
	fmt.Println("stale:", errors.Is(err, fence.ErrStale))
	fmt.Println(guard.Write(ctx, db, 42, next, sqlguard.Column{Name: "balance", Value: balance + 2}))
	// Output:
	// write row 42 of accounts: write with token 33 refused, token 34 was seen: stale operation
	// stale: true
	// <nil>
}
