internal import DocumentModel
internal import StrictJSON

extension DocumentFolders {
    /// The ID of a folder, asked of the folder itself where the name is shortened; nil when it is none's yet.
    ///
    /// - Parameter key: The ID that the name stands for; nil where it is shortened.
    /// - Throws: `.dataLoss` when the folder doesn't tell its ID, or another's.
    func id(
        ofFolder name: String,
        _ key: UTF8Key?,
        in parent: borrowing FileDescriptor,
        _ place: String
    ) throws(StatusError) -> UTF8Key? {
        if let key { return key }
        let file = place + "/" + name
        let found = try reporting("read", file) { () throws(SystemError) -> StoredID in
            guard let folder = try parent.openFolderIfPresent(name) else { return .notYet }
            if let id = try storedID(of: folder) { return .id(id) }
            // Until the ID is stored there is nothing else in the folder; a crash may leave it so.
            guard try Self.hasVisibleEntry(folder) else { return .notYet }
            return try storedID(of: folder).map(StoredID.id) ?? .missing
        }
        switch found {
        case .notYet:
            return nil
        case .id(let id) where naming.folder(of: id).text.utf8.elementsEqual(name.utf8):
            return id
        case .id(let id):
            throw DocumentFiles.damaged("The folder of \(Excerpt(id.string)) has another name. \(FolderEntry.renaming)", file)
        case .missing:
            throw DocumentFiles.damaged(
                "The name of this folder is shortened, and the file \(Self.markerName) in it, which holds the whole one, is missing or "
                    + "damaged. Restore that file from a backup, or move the folder out of the data folder.",
                file
            )
        }
    }
}

extension DocumentFolders {
    /// What a folder whose name is shortened says of its ID.
    private enum StoredID {
        case id(UTF8Key)
        case notYet
        case missing
    }

    private static func hasVisibleEntry(_ folder: borrowing FileDescriptor) throws(SystemError) -> Bool {
        var listing = try folder.openForListing()
        while let entry = try listing.next() {
            if entry.name.first != UInt8(ascii: ".") { return true }
        }
        return false
    }
}
