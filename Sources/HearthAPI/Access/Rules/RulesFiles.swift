package import StorageIO

/// The files in which a database keeps its rules.
package struct RulesFiles: Sendable {
    /// The rules, as a person wrote them.
    package let rules: LockedAtomicFile
    /// The versions that they have replaced; see ``RulesHistory``.
    package let history: LockedAtomicFile

    /// Creates the files of a database.
    package init(rules: LockedAtomicFile, history: LockedAtomicFile) {
        self.rules = rules
        self.history = history
    }
}
