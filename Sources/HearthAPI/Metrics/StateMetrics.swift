import PrometheusMetrics

/// The state of the store, as found at the last ``ServiceContext/sampleMetrics()``: finding it may wait for the disk, which a scrape
/// must not.
struct StateMetrics: Sendable {
    let sequence: Gauge
    let indexSequence: Gauge
    let indexReady: Gauge
    let journalBytes: Gauge
    let diskFreeBytes: Gauge
    let diskBytes: Gauge
    let isWritable: Gauge
    let documents: Gauge
    let documentBytes: Gauge
    let damagedDocuments: Gauge
    let waitingDocuments: Gauge
    let fileProblems: Gauge
    let openTransactions: Gauge
    let openDatabases: Gauge

    init(_ registry: MetricsRegistry) {
        sequence = registry.gauge("hearth_sequence", "The sequence number of the last commit of the default database.")
        indexSequence = registry.gauge(
            "hearth_index_sequence",
            "The sequence number of the last commit that the index of the default database includes."
        )
        indexReady = registry.gauge(
            "hearth_index_ready",
            "1 if the index of the default database can be used, 0 while it cannot."
        )
        journalBytes = registry.gauge("hearth_journal_bytes", "The size of the journals of all open databases.")
        diskFreeBytes = registry.gauge("hearth_disk_free_bytes", "Free space of the disk with the data folder.")
        diskBytes = registry.gauge("hearth_disk_size_bytes", "Size of the disk with the data folder.")
        isWritable = registry.gauge("hearth_writable", "1 if all open databases accept writes, 0 if one of them does not.")
        documents = registry.gauge(
            "hearth_documents",
            "Documents of open databases, as of the last commits that their indexes include."
        )
        documentBytes = registry.gauge("hearth_document_bytes", "The size of these documents, by Firestore's formula.")
        damagedDocuments = registry.gauge(
            "hearth_damaged_documents",
            "Documents of open databases that reads have found to be unreadable."
        )
        waitingDocuments = registry.gauge(
            "hearth_waiting_documents",
            "Documents of open databases whose last commit could not be written to their files."
        )
        fileProblems = registry.gauge(
            "hearth_file_problems",
            "Edits of files in open databases that have not become commits and need a person."
        )
        openTransactions = registry.gauge("hearth_transactions_open", "Open transactions.")
        openDatabases = registry.gauge("hearth_databases_open", "Open databases.")
    }
}
