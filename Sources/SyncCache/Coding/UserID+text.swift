internal import SyncEngine

extension UserID {
    /// The ID in a column, where it is not null: `=` and the ID, or empty before anybody has signed in.
    var columnText: String { string.map { "=" + $0 } ?? "" }

    /// Creates the ID in a column.
    init(columnText text: String) throws(CacheDatabaseError) {
        if text.isEmpty {
            self.init(nil)
        } else if text.utf8.first == UInt8(ascii: "=") {
            self.init(String(Substring(text.utf8.dropFirst())))
        } else {
            throw CacheDatabaseError(corruption: "a user has an unexpected form")
        }
    }
}
