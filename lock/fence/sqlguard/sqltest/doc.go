// Package sqltest runs package sqlguard on a real SQL engine, SQLite. It is a separate module, so that the main module
// does not depend on a database.
package sqltest
