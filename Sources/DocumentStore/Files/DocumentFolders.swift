internal import DocumentModel
internal import StrictJSON

/// Finds the folders of collections and of what is below documents, one segment at a time from the top where they are opened.
///
/// Nothing is remembered between calls: a folder that was moved away, or replaced by a link, is noticed at once.
struct DocumentFolders: Sendable {
    private let data: DataFolder
    let naming: FileNaming

    init(_ data: DataFolder) {
        self.data = data
        naming = data.description.naming
    }

    /// Opens the folder that the segments lead to; nil when it doesn't exist. Without segments, the top folder.
    func open(_ segments: [UTF8Key]) throws(StatusError) -> FileDescriptor? {
        guard let first = segments.first else { return try openTop() }
        guard var folder = try open(first, in: data.documents, segments.prefix(1)) else {
            try data.checkPresence()
            return nil
        }
        for depth in segments.indices.dropFirst() {
            guard let next = try open(segments[depth], in: folder, segments.prefix(depth + 1)) else { return nil }
            folder = next
        }
        return folder
    }

    /// What the system knows from memory of a document's file; nil when that is nothing, and when there is a link on the way.
    func statusInMemory(of path: DocumentPath) -> FileStatus? {
        let file = place(path.collection.segments) + "/" + naming.file(of: path.id).text
        guard let found = data.root.openInMemory(file) else { return nil }
        return try? found.status()
    }

    /// Opens the folder that the segments lead to, making what doesn't exist.
    func make(_ segments: [UTF8Key]) throws(StatusError) -> FileDescriptor {
        var folder = try openTop()
        for depth in segments.indices {
            folder = try make(segments[depth], in: folder, segments.prefix(depth + 1))
        }
        return folder
    }

    /// Removes the folders that the segments lead to, from the innermost outwards, as long as they are empty.
    func removeEmpty(_ segments: [UTF8Key]) {
        var rest = segments[...]
        while let last = rest.popLast() {
            // Best effort: an empty folder does no harm, and the next deletion tries again.
            guard let parent = try? open(Array(rest)) else { return }
            let name = naming.folder(of: last)
            if name.isShortened, let folder = try? parent.openFolder(name.text), Self.isEmpty(folder) {
                _ = try? folder.removeFile(Self.markerName)
            }
            guard (try? parent.removeFolder(name.text)) == true else { return }
        }
    }

    /// The path in the data folder of the folder that the segments lead to.
    func place(_ segments: some Sequence<UTF8Key>) -> String {
        segments.reduce(DataFolder.documentsName) { $0 + "/" + naming.folder(of: $1).text }
    }

    /// The name of the file at a place in the data folder; nil when it isn't directly in the folder that the segments lead to.
    func fileName(of place: UTF8Key, in segments: [UTF8Key]) -> String? {
        let folder = (self.place(segments) + "/").utf8
        guard place.utf8.starts(with: folder) else { return nil }
        let name = place.utf8.dropFirst(folder.count)
        return name.contains(UInt8(ascii: "/")) ? nil : String(decoding: name, as: UTF8.self)
    }

    /// The ID of a folder whose name is shortened; nil when the folder does not tell.
    func storedID(of folder: borrowing FileDescriptor) throws(SystemError) -> UTF8Key? {
        do throws(SystemError) {
            let file = try folder.openFile(Self.markerName, for: .reading)
            let bytes = try file.read(min(file.status().size, 16 << 10))
            return (try? JSONText(bytes))?.root[Self.idKey]?.string.map { UTF8Key($0) }
        } catch {
            guard error.isNotFound else { throw error }
            return nil
        }
    }

    /// The file that holds a folder's ID when its name is shortened.
    static let markerName = ".hearth-id.json"
    private static let idKey: UTF8Key = "id"
}

extension DocumentFolders {
    private func openTop() throws(StatusError) -> FileDescriptor {
        try data.checkPresence()
        return try reporting("open", DataFolder.documentsName) { () throws(SystemError) in try data.documents.openFolder(".") }
    }

    private func open(
        _ id: UTF8Key,
        in parent: borrowing FileDescriptor,
        _ path: ArraySlice<UTF8Key>
    ) throws(StatusError) -> FileDescriptor? {
        let name = naming.folder(of: id)
        let opened = try reporting("open", place(path)) { () throws(SystemError) in try parent.openFolderIfPresent(name.text) }
        guard let folder = opened else { return nil }
        // A crash may have come between making the folder and storing the ID, so that none is stored.
        if name.isShortened,
            let stored = try reporting("read", place(path), { () throws(SystemError) in try storedID(of: folder) }),
            stored != id
        {
            throw StatusError(
                .internal,
                "The folder \(place(path)) in the data folder belongs to another ID, \(Excerpt(stored.string))."
            )
        }
        return folder
    }

    private func make(
        _ id: UTF8Key,
        in parent: borrowing FileDescriptor,
        _ path: ArraySlice<UTF8Key>
    ) throws(StatusError) -> FileDescriptor {
        let name = naming.folder(of: id)
        if let folder = try open(id, in: parent, path), !name.isShortened { return folder }
        return try reporting("make", place(path)) { () throws(SystemError) in
            try parent.makeFolder(name.text)
            let folder = try parent.openFolder(name.text)
            if name.isShortened, try storedID(of: folder) == nil { try store(id, in: folder) }
            return folder
        }
    }

    private func store(_ id: UTF8Key, in folder: borrowing FileDescriptor) throws(SystemError) {
        var writer = JSONWriter()
        writer.beginObject()
        writer.key(Self.idKey)
        writer.string(id.string)
        writer.endObject()
        let temporary = TemporaryName.fixed("id")
        try folder.removeFile(temporary)
        do throws(SystemError) {
            try folder.openFile(temporary, for: .creating).write(writer.finish())
            try folder.rename(temporary, to: Self.markerName)
        } catch {
            _ = try? folder.removeFile(temporary)
            throw error
        }
    }

    private static func isEmpty(_ folder: borrowing FileDescriptor) -> Bool {
        guard var listing = try? folder.openForListing() else { return false }
        do throws(SystemError) {
            while let entry = try listing.next() {
                if !entry.name.elementsEqual(markerName.utf8) { return false }
            }
            return true
        } catch {
            return false
        }
    }
}
