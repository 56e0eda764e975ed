#pragma once

#include <sqlite3.h>

/// Disables SQLite's memory statistics, which take a lock for each allocation. Has no effect once SQLite is initialized
/// (https://www.sqlite.org/c3ref/c_config_covering_index_scan.html, `SQLITE_CONFIG_MEMSTATUS`). Swift cannot call variadic C
/// functions.
static inline void csqlite_disable_memory_statistics(void) {
    (void)sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
}
