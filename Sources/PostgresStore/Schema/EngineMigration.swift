internal import DocumentModel

/// A step from the tables of one version to those of the next.
struct EngineMigration: Sendable {
    /// The version after the step.
    let version: Int64
    /// Changes the tables, in a transaction in which no other migration runs.
    let run: @Sendable (EngineConnection) throws(StatusError) -> Void

    /// All steps, in their order.
    static let all = [tables, entries, sharedState, addresses]
}
