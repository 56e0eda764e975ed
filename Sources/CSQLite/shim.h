#pragma once

#include <sqlite3.h>

/// Lets SQLite allocate memory without counting it, which takes a lock each time: without effect once SQLite is in use
/// (https://www.sqlite.org/c3ref/c_config_covering_index_scan.html, `SQLITE_CONFIG_MEMSTATUS`). Swift can't call functions with a
/// variable number of arguments.
static inline void csqlite_leave_memory_uncounted(void) {
    (void)sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
}
