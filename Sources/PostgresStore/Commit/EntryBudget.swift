internal import DocumentModel
internal import DocumentStore
internal import StrictJSON

/// The limit of the index entries that a transaction changes, while all other commits of the database wait for it.
///
/// A commit of a single document is limited by the size of the document alone, so that each document can be changed and deleted. Entries
/// are counted exactly only when a cheap upper bound exceeds the limit.
final class EntryBudget {
    private let maximum: Int
    private let database: Int64
    private let progress: IndexProgress
    private let fields: FieldIDs
    private var count = 0

    /// - Parameter maximum: The maximum number of entries that a commit of several documents adds and removes.
    init(maximum: Int, _ database: Int64, _ progress: IndexProgress, _ fields: FieldIDs) {
        self.maximum = maximum
        self.database = database
        self.progress = progress
        self.fields = fields
    }

    /// True if the transaction should have no more commits.
    var isSpent: Bool { count >= maximum }

    /// Counts the entries that a commit changes.
    ///
    /// - Throws: `.invalidArgument` when they are too many.
    func charge(_ changes: [CommittedChange]) throws(StatusError) {
        let bound = changes.reduce(0) { sum, change in
            let scopeCount = change.path.collection.parent == nil ? 1 : 2
            return sum + scopeCount * ((change.before?.valueBound ?? 0) + (change.after?.valueBound ?? 0))
        }
        count += bound > maximum && changes.count > 1 ? try exactCount(changes) : bound
    }

    private func exactCount(_ changes: [CommittedChange]) throws(StatusError) -> Int {
        var entries = EntryChanges(database, progress, fields)
        for change in changes {
            let before = try change.before.map { document throws(StatusError) in try document.decoded().fields }
            let after = try change.after.map { document throws(StatusError) in try document.decoded().fields }
            // Scopes do not matter for the number.
            entries.replace(before, with: after, at: change.path, collection: 0, group: 0)
            guard entries.count <= maximum else {
                throw StatusError(
                    .invalidArgument,
                    "The commit changes more than \(maximum) entries of the index: the values of fields and of elements of arrays, in "
                        + "documents of nested collections twice. All other commits would wait for it. Split it into several commits, or "
                        + "exempt fields from the index.",
                    path: change.path.string
                )
            }
        }
        return entries.count
    }
}

extension EncodedDocument {
    /// An upper bound of the number of values: each is the first in a map or an array, or follows a comma, outside of strings.
    var valueBound: Int {
        var count = 0
        var (isInString, isEscaped) = (false, false)
        for byte in fieldsJSON {
            switch byte {
            case _ where isEscaped: isEscaped = false
            case UInt8(ascii: "\\"): isEscaped = true
            case UInt8(ascii: "\""): isInString.toggle()
            case UInt8(ascii: ","), UInt8(ascii: "{"), UInt8(ascii: "["): if !isInString { count += 1 }
            default: break
            }
        }
        return count
    }
}
