extension EngineMigration {
    /// Version 5: `format` has the lowest version that servers must know. Servers of version 4 compare versions for equality, so they
    /// cannot go on. The column is there already: it cannot be added while the row is locked (``EngineSchema/migrate(_:)``).
    static let minimumVersion = EngineMigration(version: 5, minimumVersion: 5) { _ in }
}
