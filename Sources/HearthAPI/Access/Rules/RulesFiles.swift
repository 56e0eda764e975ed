package import StorageIO

/// The records in which a database keeps its rules.
package struct RulesFiles: Sendable {
    /// The rules, as a person wrote them.
    package let rules: any AtomicRecord
    /// The versions that they have replaced; see ``RulesHistory``.
    package let history: any AtomicRecord

    /// Creates the records of a database.
    package init(rules: some AtomicRecord, history: some AtomicRecord) {
        self.rules = rules
        self.history = history
    }
}
