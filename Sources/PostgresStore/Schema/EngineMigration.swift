internal import DocumentModel

/// A step from the tables of one version to those of the next.
struct EngineMigration: Sendable {
    /// The version after the step.
    let version: Int64
    /// The lowest version of the tables that a server must know to use them after the step.
    ///
    /// The step's own version if earlier servers would damage or misread what later ones write; otherwise that of an earlier step, so that
    /// servers of both releases work side by side while an operator replaces one after the other.
    let minimumVersion: Int64
    /// Changes the tables, in a transaction in which no other migration runs.
    let run: @Sendable (EngineConnection) throws(StatusError) -> Void

    /// All steps, in their order.
    static let all = [tables, entries, sharedState, addresses, compatibility]
}
