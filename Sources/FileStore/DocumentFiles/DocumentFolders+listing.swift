internal import DocumentModel
internal import StorageIO
internal import UTF8Text

extension DocumentFolders {
    /// The contents of the folder of a document's subcollections, or of the root folder.
    struct Collections {
        /// The collections with a folder, in no particular order.
        var ids: [CollectionID] = []
        /// Errors for foreign entries and unreadable folders.
        var damaged: [StatusError] = []
    }

    /// Lists the collections with a folder below a document, or in the root folder.
    func collections(under segments: [UTF8Key]) throws(StatusError) -> Collections {
        var collections = Collections()
        let folderPath = folderPath(segments)
        let path = segments.isEmpty ? nil : segments.map(\.string).joined(separator: "/")
        let opened: FileDescriptor?
        do throws(StatusError) {
            opened = try open(segments)
        } catch {
            // The document is readable even if something else exists in place of the folder of its subcollections.
            guard error.affectsSingleFile, !segments.isEmpty else { throw error }
            return Collections(damaged: [error.withLocation(filePath: folderPath, path: path)])
        }
        guard let folder = opened else { return collections }
        try forEachEntry(of: folder, folderPath, at: .belowDocument) { name, entry throws(StatusError) in
            let filePath = folderPath + "/" + name
            switch entry {
            case .document, .ignored:
                break
            case .foreign(let message):
                collections.damaged.append(DocumentFiles.damaged(message, filePath, path: path))
            case .folder(let key):
                do throws(StatusError) {
                    guard let id = try id(ofFolder: name, key, in: folder, folderPath) else { break }
                    // A folder without access permission is reported and doesn't hide the others.
                    _ = try reporting("open", filePath) { () throws(FileSystemError) in try folder.openFolderIfPresent(name) }
                    collections.ids.append(try CollectionID(id.string))
                } catch {
                    guard error.affectsSingleFile else { throw error }
                    collections.damaged.append(error.withLocation(filePath: filePath, path: path))
                }
            }
            return true
        }
        collections.damaged.sortByFilePath()
        return collections
    }

    /// Returns the file path of any document or foreign entry in or below the folder of a path, or `nil` if there is none.
    ///
    /// - Parameter excluded: The paths of files to ignore.
    func anyDocument(below segments: [UTF8Key], excluding excluded: Set<UTF8Key>) throws(StatusError) -> UTF8Key? {
        guard let folder = try open(segments) else { return nil }
        let level = segments.count.isMultiple(of: 2) ? FolderEntry.Level.belowDocument : .collection
        return try anyDocument(in: folder, folderPath(segments), level, excluding: excluded)
    }

    /// Calls `body` with the name of each entry of a folder, with invalid UTF-8 replaced, and its classification, until it returns
    /// `false`.
    ///
    /// - Parameter isSkipped: Returns whether to leave out the document of an ID, if ``DocumentPath/ID/init(plain:)`` accepts it.
    ///   Nothing is allocated for it.
    func forEachEntry(
        of folder: borrowing FileDescriptor,
        _ folderPath: String,
        at level: FolderEntry.Level,
        skipping isSkipped: (UnsafeBufferPointer<UInt8>) -> Bool = { _ in false },
        _ body: (String, FolderEntry) throws(StatusError) -> Bool
    ) throws(StatusError) {
        var failure: StatusError?
        do throws(FileSystemError) {
            var listing = try folder.openForListing()
            while let found = try listing.next() {
                guard let kind = try folder.kind(of: found) else { continue }
                if kind == .file, level == .collection, let id = naming.plainID(ofFile: found.bytes), isSkipped(id) {
                    continue
                }
                do throws(StatusError) {
                    guard try body(found.text, FolderEntry(found.bytes, kind, at: level, naming: naming)) else { break }
                } catch {
                    failure = error
                    break
                }
            }
        } catch {
            throw error.status("list", folderPath)
        }
        if let failure { throw failure }
    }
}

extension DocumentFolders {
    private func anyDocument(
        in folder: borrowing FileDescriptor,
        _ folderPath: String,
        _ level: FolderEntry.Level,
        excluding excluded: Set<UTF8Key>,
        depth: Int = 0
    ) throws(StatusError) -> UTF8Key? {
        // There cannot be documents below the maximum path depth.
        guard depth < 2 * DocumentLimits.maximumSubcollectionDepth else { return nil }
        var folders: [String] = []
        var found: UTF8Key?
        try forEachEntry(of: folder, folderPath, at: level) { name, entry in
            switch entry {
            case .document, .foreign:
                let filePath = UTF8Key(folderPath + "/" + name)
                if !excluded.contains(filePath) { found = filePath }
            case .folder: folders.append(name)
            case .ignored: break
            }
            return found == nil
        }
        if let found { return found }
        for name in folders {
            let innerPath = folderPath + "/" + name
            let below = level == .collection ? FolderEntry.Level.belowDocument : .collection
            do throws(StatusError) {
                let opened = try reporting("open", innerPath) { () throws(FileSystemError) in try folder.openFolderIfPresent(name)
                }
                guard let inner = opened else { continue }
                if let found = try anyDocument(in: inner, innerPath, below, excluding: excluded, depth: depth + 1) {
                    return found
                }
            } catch {
                guard error.affectsSingleFile else { throw error }
                return UTF8Key(innerPath)
            }
        }
        return nil
    }
}
