import DocumentModel
import FileStore
import HearthAPI

extension RulesFiles {
    /// Returns the files of a database; `nil` if it does not exist.
    init?(of id: DatabaseID?, in host: FileStoreHost) async throws(StatusError) {
        guard let rules = try await host.file(.rules, of: id), let history = try await host.file(.rulesHistory, of: id) else {
            return nil
        }
        self.init(rules: rules, history: history)
    }
}
