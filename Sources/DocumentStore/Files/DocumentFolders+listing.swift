internal import DocumentModel
internal import StrictJSON

extension DocumentFolders {
    /// What is in the folder below a document, or at the top.
    struct Collections {
        /// The collections that have a folder, in no order.
        var ids: [CollectionID] = []
        /// What is neither a collection nor harmless.
        var damaged: [StatusError] = []
    }

    /// The collections that have a folder under the document that the segments lead to, or at the top.
    func collections(under segments: [UTF8Key]) throws(StatusError) -> Collections {
        var collections = Collections()
        let place = place(segments)
        let path = segments.isEmpty ? nil : segments.map(\.string).joined(separator: "/")
        let opened: FileDescriptor?
        do throws(StatusError) {
            opened = try open(segments)
        } catch {
            // The document is readable where something else stands in place of the folder of what is below it.
            guard error.concernsOneFile, !segments.isEmpty else { throw error }
            return Collections(damaged: [error.concerning(place, path: path)])
        }
        guard let folder = opened else { return collections }
        try forEachEntry(of: folder, place, at: .belowDocument) { name, entry throws(StatusError) in
            let file = place + "/" + name
            switch entry {
            case .document, .ignored:
                break
            case .foreign(let fault):
                collections.damaged.append(DocumentFiles.damaged(fault, file, path: path))
            case .folder(let key):
                do throws(StatusError) {
                    guard let id = try id(ofFolder: name, key, in: folder, place) else { break }
                    // One that may not be entered is reported, and doesn't hide the others.
                    _ = try reporting("open", file) { () throws(SystemError) in try folder.openFolderIfPresent(name) }
                    collections.ids.append(try CollectionID(id.string))
                } catch {
                    guard error.concernsOneFile else { throw error }
                    collections.damaged.append(error.concerning(file, path: path))
                }
            }
            return true
        }
        collections.damaged.sortByFile()
        return collections
    }

    /// The place in the data folder of something in the folder that the segments lead to, or anywhere below it: a document's
    /// file, or what is reported because it is in the place of one. Nil when there is nothing.
    ///
    /// - Parameter others: The places of files that don't count.
    func someDocument(below segments: [UTF8Key], otherThan others: Set<UTF8Key>) throws(StatusError) -> UTF8Key? {
        guard let folder = try open(segments) else { return nil }
        let level = segments.count.isMultiple(of: 2) ? FolderEntry.Level.belowDocument : .collection
        return try someDocument(in: folder, place(segments), level, otherThan: others)
    }

    /// Calls `body` with the name of each entry of a folder, what is not UTF-8 replaced, and with what it is, until it returns
    /// false.
    func forEachEntry(
        of folder: borrowing FileDescriptor,
        _ place: String,
        at level: FolderEntry.Level,
        _ body: (String, FolderEntry) throws(StatusError) -> Bool
    ) throws(StatusError) {
        var failure: StatusError?
        do throws(SystemError) {
            var listing = try folder.openForListing()
            while let found = try listing.next() {
                guard let kind = try folder.kind(of: found) else { continue }
                do throws(StatusError) {
                    guard try body(found.text, FolderEntry(found.name, kind, at: level, naming: naming)) else { break }
                } catch {
                    failure = error
                    break
                }
            }
        } catch {
            throw error.status("list", place)
        }
        if let failure { throw failure }
    }
}

extension DocumentFolders {
    private func someDocument(
        in folder: borrowing FileDescriptor,
        _ place: String,
        _ level: FolderEntry.Level,
        otherThan others: Set<UTF8Key>,
        depth: Int = 0
    ) throws(StatusError) -> UTF8Key? {
        // Deeper than any path leads there can be no document, only what someone else put there.
        guard depth < 2 * DocumentLimits.maximumSubcollectionDepth else { return nil }
        var folders: [String] = []
        var found: UTF8Key?
        try forEachEntry(of: folder, place, at: level) { name, entry in
            switch entry {
            case .document, .foreign:
                let file = UTF8Key(place + "/" + name)
                if !others.contains(file) { found = file }
            case .folder: folders.append(name)
            case .ignored: break
            }
            return found == nil
        }
        if let found { return found }
        for name in folders {
            let place = place + "/" + name
            let below = level == .collection ? FolderEntry.Level.belowDocument : .collection
            do throws(StatusError) {
                let opened = try reporting("open", place) { () throws(SystemError) in try folder.openFolderIfPresent(name) }
                guard let inner = opened else { continue }
                if let found = try someDocument(in: inner, place, below, otherThan: others, depth: depth + 1) { return found }
            } catch {
                guard error.concernsOneFile else { throw error }
                return UTF8Key(place)
            }
        }
        return nil
    }
}
