internal import DocumentModel
internal import DocumentStore
internal import Journal
internal import StorageIO
internal import StrictJSON
internal import UTF8Text

/// A file for people with commits that the primary does not have, `standby/set-aside-….ndjson`: a line for each commit, in order.
///
/// ```json
/// {"sequence":43,"time":"2026-11-26T18:05:00.000000Z","author":"k1","writes":[{"path":"books/a","operation":"set","document":{…}},{"path":"books/b","operation":"delete"}]}
/// ```
struct SetAsideJournal {
    private let folder: SharedFileDescriptor
    private let name: String

    init(named name: String, in standby: SharedFileDescriptor) {
        self.name = "set-aside-\(name).ndjson"
        folder = standby
    }

    /// Writes the commits of a journal after one, as far as they are retained. Durable when this returns.
    func write(
        _ journal: Journal,
        after sequence: SequenceNumber,
        through last: SequenceNumber
    ) throws(StatusError) -> SetAsideCommits {
        let temporary = TemporaryName.fixed("set-aside")
        let file = try reporting("create", name) { () throws(FileSystemError) in
            try folder.descriptor.removeFile(temporary)
            return SharedFileDescriptor(try folder.descriptor.openFile(temporary, for: .creating))
        }
        var position = sequence
        if let oldest = journal.oldest, oldest > position.next { position = oldest.previous }
        var (count, offset, isComplete) = (0, 0, position == sequence)
        while position < last {
            let commits: [Commit]
            do throws(StatusError) {
                commits = try journal.commits(after: position, through: last)
            } catch {
                guard error.code == .outOfRange else { throw error }
                isComplete = false
                break
            }
            // One that changed nothing leaves nothing to set aside.
            let changing = commits.filter { !$0.changes.isEmpty }
            let bytes = changing.flatMap(Self.line)
            try reporting("write", name) { () throws(FileSystemError) in
                try file.descriptor.write(bytes, at: offset)
            }
            offset += bytes.count
            count += changing.count
            position = commits.last?.sequence ?? last
        }
        try reporting("write", name) { () throws(FileSystemError) in
            try file.descriptor.synchronize()
            try folder.descriptor.rename(temporary, to: name)
            try folder.descriptor.synchronize()
        }
        return SetAsideCommits(name: "\(StandbyFolder.name)/\(name)", count: count, isComplete: isComplete)
    }

    private static func line(_ commit: Commit) -> [UInt8] {
        var writer = JSONWriter()
        writer.beginObject()
        writer.key("sequence")
        writer.integer(Int64(clamping: commit.sequence.rawValue))
        writer.key("time")
        writer.string(commit.time.rfc3339)
        if let author = commit.author {
            writer.key("author")
            writer.string(author.string)
        }
        writer.key("writes")
        writer.beginArray()
        for change in commit.changes {
            writer.beginObject()
            writer.key("path")
            writer.string(change.path.string)
            writer.key("operation")
            writer.string(change.after == nil ? "delete" : "set")
            if let document = change.after {
                writer.key("document")
                document.write(to: &writer)
            }
            writer.endObject()
        }
        writer.endArray()
        writer.endObject()
        return writer.finish() + [UInt8(ascii: "\n")]
    }
}
