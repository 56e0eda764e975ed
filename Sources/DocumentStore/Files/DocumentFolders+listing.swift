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

    /// The place in the data folder of some document's file in the folder that the segments lead to, or anywhere below it; nil
    /// when there is none.
    ///
    /// - Parameter others: The places of files that don't count.
    func someDocument(below segments: [UTF8Key], otherThan others: Set<UTF8Key>) throws(StatusError) -> UTF8Key? {
        guard let folder = try open(segments) else { return nil }
        let level = segments.count.isMultiple(of: 2) ? Level.belowDocument : .collection
        return try someDocument(in: folder, place(segments), level, otherThan: others)
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

    private func someDocument(
        in folder: borrowing FileDescriptor,
        _ place: String,
        _ level: Level,
        otherThan others: Set<UTF8Key>,
        depth: Int = 0
    ) throws(StatusError) -> UTF8Key? {
        // Deeper than any path leads there can be no document, only what someone else put there.
        guard depth < 2 * DocumentLimits.maximumSubcollectionDepth else { return nil }
        let entries = try list(folder, place, level, otherThan: others)
        if let document = entries.document { return document }
        for name in entries.folders where naming.read(folder: name) != .foreign {
            let text = String(decoding: name, as: UTF8.self)
            let place = place + "/" + text
            let opened = try reporting("open", place) { () throws(SystemError) in try folder.openFolderIfPresent(text) }
            guard let inner = opened else { continue }
            let below = level == .collection ? Level.belowDocument : .collection
            if let document = try someDocument(in: inner, place, below, otherThan: others, depth: depth + 1) { return document }
        }
        return nil
    }

    /// The folders in a folder, or some of them when there is a document's file in it, which is answer enough.
    private func list(
        _ folder: borrowing FileDescriptor,
        _ place: String,
        _ level: Level,
        otherThan others: Set<UTF8Key> = []
    ) throws(StatusError) -> (folders: [[UInt8]], document: UTF8Key?) {
        try reporting("list", place) { () throws(SystemError) in
            var folders: [[UInt8]] = []
            var listing = try folder.openForListing()
            while let entry = try listing.next() {
                switch try folder.kind(of: entry) {
                case .folder:
                    folders.append(entry.name)
                case .file where level == .collection && naming.read(file: entry.name) != .foreign:
                    let document = UTF8Key(place + "/" + entry.text)
                    if !others.contains(document) { return (folders, document) }
                default:
                    break
                }
            }
            return (folders, nil)
        }
    }
}
