internal import DocumentModel
internal import StorageIO
internal import UTF8Text

/// An edit: the state of a document's file that another program has left, and that no commit has made.
struct FileEdit: Sendable {
    /// The last committed version of a document.
    enum Base: Hashable, Sendable {
        /// The version; `nil` if the document did not exist.
        case known(EncodedDocument?)
        /// The document existed, but neither the cache nor the journal has its version.
        case unknown
    }

    /// The contents of an edited file.
    struct Contents: Sendable {
        /// The fields.
        let fields: MapValue
        /// The times that the file states; `nil` if it does not.
        let times: Times?
    }

    /// The times of a version.
    struct Times: Hashable, Sendable {
        let create: Timestamp
        let update: Timestamp
    }

    /// The document.
    let path: DocumentPath
    /// The identity of the file; `nil` if it was removed.
    let identity: FileIdentity?
    /// The contents of the file; `nil` if it was removed.
    let contents: Contents?
    /// The last committed version.
    let base: Base
    /// The name of the user who owns the file; `nil` if it is not known.
    let owner: String?
    /// True if the edit was made in the text that the file of the last committed version keeps, which may state an earlier time.
    var isOfKeptText = false
    /// True if the file keeps its text.
    var keepsText = false
    /// The fields with the changes of later commits, which the file does not have; `nil` without any.
    private(set) var mergedFields: MapValue?

    /// The text that the file keeps; `nil` if it was removed.
    var keptText: UnappliedDocuments.KeptText? {
        identity.map { UnappliedDocuments.KeptText(identity: $0, statedTime: contents?.times?.update) }
    }

    /// The write that has the effect of the edit.
    var write: Write {
        Write(path: path, operation: contents.map { .replace(mergedFields ?? $0.fields) } ?? .delete)
    }

    /// Returns the edit, whose file keeps its text or not.
    func keepingText(_ keepsText: Bool) -> FileEdit {
        var edit = self
        edit.keepsText = keepsText
        return edit
    }

    /// Returns the edit with the changes of later commits.
    func merged(_ fields: MapValue) -> FileEdit {
        var edit = self
        edit.mergedFields = fields
        return edit
    }

    /// Returns whether an author in the history is one of edits of files.
    static func isAuthor(_ author: UTF8Key?) -> Bool {
        author.map { $0 == "file" || $0.string.hasPrefix("file:") } ?? false
    }

    /// Returns the author that the history has for a commit of edits.
    static func author(of edits: [FileEdit]) -> UTF8Key {
        let owners = Set(edits.map(\.owner))
        guard owners.count == 1, let owner = owners.first ?? nil else { return "file" }
        return UTF8Key("file:" + owner)
    }
}

extension FileEdit {
    /// The effect of an edit on the document.
    enum Effect {
        /// The file is as the store wrote it.
        case none
        /// Only the form of the file or its times differ from the committed version, which is written again.
        case form(EncodedDocument)
        /// The document is changed, created or deleted.
        case change
        /// The file was written on the basis of an earlier version than the committed one, which has changed other fields.
        case merge(MapValue)
        /// The file was written on the basis of an earlier version than the committed one, which has changed the same fields.
        case conflict(EncodedDocument)
    }

    /// The effect.
    ///
    /// - Parameter version: Returns the version of the document as of a time; `nil` if it is not retained.
    func effect(version: (Timestamp) async throws(StatusError) -> EncodedDocument?) async throws(StatusError) -> Effect {
        guard let contents else {
            if case .known(nil) = base { return .none }
            return .change
        }
        let isDated = contents.times.map { identity?.modifiedMicroseconds == $0.update.microseconds } ?? false
        // A copy of all files, or a change of their owners, must not make commits of them.
        if base == .unknown { return isDated ? .none : .change }
        guard case .known(let committed?) = base else { return .change }
        let fields = try committed.decoded().fields
        if fields == contents.fields {
            let isUntouched = isDated && contents.times == Times(create: committed.createTime, update: committed.updateTime)
            return isUntouched ? .none : .form(committed)
        }
        guard !isOfKeptText, let stated = contents.times?.update, stated < committed.updateTime else { return .change }
        guard let earlier = try await version(stated)?.decoded().fields else { return .conflict(committed) }
        // The edits since have been made in the same text.
        if earlier == fields { return .change }
        // An earlier version that was put back as it was is meant to replace the later one.
        if earlier == contents.fields { return .change }
        let merge = FieldMerge(fields, contents.fields, since: earlier)
        guard merge.conflicts.isEmpty else { return .conflict(committed) }
        return merge.fields == fields ? .form(committed) : .merge(merge.fields)
    }
}
