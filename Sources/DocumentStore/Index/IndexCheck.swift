internal import DocumentModel
internal import GRDB
internal import StrictJSON

/// Compares the index of a database that was closed with the documents' files.
///
/// Each document is compared with what the index knows of it, and all entries that should be there, as a sum of hashes, with
/// those that are. The index of a database that was not closed is not looked at: the next start sees to it.
struct IndexCheck {
    private let connection: DatabaseQueue
    let expected: (sequence: SequenceNumber, edition: String?)
    var numbers = IndexNumbers()
    var encoder = KeyEncoder()
    /// The rows of the documents that have files.
    var seen: Set<Int64> = []
    /// The sum of the hashes of the entries that should be there.
    var sum = 0
    /// The sizes that the scopes should have.
    var sizes: [Int64: CollectionSize] = [:]
    /// By what rules the entries of some collections are made; nil before the index was asked.
    var rules: [CollectionID: IndexRowRules]?
    /// Whether all entries are as the rules say: they are not while that is being changed.
    var isSettled = true
    /// How many documents the index has otherwise than their files.
    private var counts: [Fault: Int] = [:]
    /// The first of them.
    private var first: (path: DocumentPath, file: String)?
    /// Why the index can't be read.
    private var unreadable: String?

    /// How the index and a file differ.
    enum Fault: String, CaseIterable {
        case missing = "lacks"
        case other = "has with other fields"
        case removed = "has without there being a file"
    }

    /// Opens the index to look at it; nil when there is nothing to compare.
    init?(_ data: DataFolder, folder: String) throws(StatusError) {
        guard data.description.isClean, data.description.openIndex == nil,
            try data.identity(ofFile: IndexFile.name) != nil
        else { return nil }
        expected = (data.description.sequence, data.description.indexEdition)
        do {
            var configuration = Configuration()
            configuration.readonly = true
            configuration.foreignKeysEnabled = false
            // Without this SQLite would make files beside it.
            let path = PercentEncoding.encode(UTF8Key(folder + "/" + IndexFile.name))
            connection = try DatabaseQueue(path: "file:\(path)?immutable=1", configuration: configuration)
        } catch {
            throw IndexFailure(error).status
        }
    }

    /// Compares a document as it was read from its file.
    mutating func compare(_ document: EncodedDocument, _ file: String) throws(StatusError) {
        guard unreadable == nil else { return }
        let fields = try document.decoded().fields
        do throws(IndexFailure) {
            let fault = try IndexFailure.catching { try connection.inDatabase { try self.fault(document.path, fields, $0) } }
            if let fault { note(fault, document.path, file) }
        } catch {
            unreadable = error.message
        }
    }

    mutating func note(_ fault: Fault, _ path: DocumentPath, _ file: String) {
        if first == nil { first = (path, file) }
        counts[fault, default: 0] += 1
    }

    /// Takes note of a document whose file can't be read, so that nothing can be said of it.
    mutating func skip(_ path: DocumentPath) {
        _ = try? connection.inDatabase { try stored(path, $0) }
    }

    /// Compares what is left, when all documents have been, and reports what is wrong: one finding, since one repair mends it.
    mutating func finish(_ log: inout CheckLog) {
        if unreadable == nil {
            do throws(IndexFailure) {
                unreadable = try IndexFailure.catching {
                    try connection.inDatabase { database in
                        try noteUnseen(database)
                        return try faultOfWhole(database)
                    }
                }
            } catch {
                unreadable = error.message
            }
        }
        try? connection.close()
        if let unreadable {
            log.add(.damagedIndex(unreadable))
        } else if let first {
            let parts = Fault.allCases.compactMap { fault in counts[fault].map { "\(fault.rawValue) \($0)" } }
            log.add(
                CheckFinding(
                    .outdatedIndex,
                    "Queries don't find what is there of \(counts.values.reduce(0, +)) documents: the index "
                        + parts.joined(separator: ", ") + ". This is the first of them. A repair makes the index anew.",
                    path: first.path.string,
                    file: first.file
                )
            )
        }
    }
}

extension CheckFinding {
    /// An index that can't be compared, or is not right as a whole.
    static func damagedIndex(_ fault: String) -> CheckFinding {
        CheckFinding(.damagedIndex, "The index is not right: \(fault). A repair makes it anew.", file: IndexFile.name)
    }
}
