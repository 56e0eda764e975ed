internal import DocumentModel
internal import StrictJSON

extension DocumentFolders {
    /// The collections that have a folder under the document that the segments lead to, or at the top, in no order.
    func collections(under segments: [UTF8Key]) throws(StatusError) -> [CollectionID] {
        guard let folder = try open(segments) else { return [] }
        let place = place(segments)
        var ids: [CollectionID] = []
        for name in try list(folder, place, .belowDocument).folders {
            guard let key = try id(ofFolder: name, in: folder, place), let id = try? CollectionID(key.string) else { continue }
            ids.append(id)
        }
        return ids
    }

    /// Whether there is a document's file in the folder that the segments lead to, or anywhere below it.
    func hasDocument(below segments: [UTF8Key]) throws(StatusError) -> Bool {
        guard let folder = try open(segments) else { return false }
        return try hasDocument(in: folder, place(segments), segments.count.isMultiple(of: 2) ? .belowDocument : .collection)
    }

    /// The ID that a folder's name stands for, asked of the folder itself where the name is shortened; nil when it is none's.
    func id(ofFolder name: [UInt8], in parent: borrowing FileDescriptor, _ place: String) throws(StatusError) -> UTF8Key? {
        switch naming.read(folder: name) {
        case .id(let key): return key
        case .foreign: return nil
        case .shortened:
            let text = String(decoding: name, as: UTF8.self)
            return try reporting("read", place + "/" + text) { () throws(SystemError) in
                try storedID(of: parent.openFolder(text))
            }
        }
    }

    /// What the entries of a folder are.
    private enum Level {
        /// Files of documents, and folders of what is below them.
        case collection
        /// Folders of collections.
        case belowDocument
    }

    private func hasDocument(
        in folder: borrowing FileDescriptor,
        _ place: String,
        _ level: Level,
        depth: Int = 0
    ) throws(StatusError) -> Bool {
        // Deeper than any path leads there can be no document, only what someone else put there.
        guard depth < 2 * DocumentLimits.maximumSubcollectionDepth else { return false }
        let entries = try list(folder, place, level)
        if entries.hasDocument { return true }
        for name in entries.folders where naming.read(folder: name) != .foreign {
            let text = String(decoding: name, as: UTF8.self)
            let place = place + "/" + text
            let opened = try reporting("open", place) { () throws(SystemError) in try folder.openFolderIfPresent(text) }
            guard let inner = opened else { continue }
            let below = level == .collection ? Level.belowDocument : .collection
            if try hasDocument(in: inner, place, below, depth: depth + 1) { return true }
        }
        return false
    }

    /// The folders in a folder, or some of them when there is a document's file in it, which is answer enough.
    private func list(
        _ folder: borrowing FileDescriptor,
        _ place: String,
        _ level: Level
    ) throws(StatusError) -> (folders: [[UInt8]], hasDocument: Bool) {
        try reporting("list", place) { () throws(SystemError) in
            var folders: [[UInt8]] = []
            var listing = try folder.openForListing()
            while let entry = try listing.next() {
                switch try folder.kind(of: entry) {
                case .folder:
                    folders.append(entry.name)
                case .file where level == .collection && naming.read(file: entry.name) != .foreign:
                    return (folders, true)
                default:
                    break
                }
            }
            return (folders, false)
        }
    }
}
