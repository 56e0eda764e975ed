package import DocumentModel
internal import StrictJSON

extension DatabaseFolders {
    /// All databases beside the default one, in the order of their names, damaged ones too.
    package func all() async throws(StatusError) -> [DatabaseID] {
        try await queue.run { () throws(StatusError) in try self.list() }
    }

    /// The databases that there are. What else lies among their folders is left alone.
    func list() throws(StatusError) -> [DatabaseID] {
        try reporting("list", Self.name) { () throws(SystemError) in
            guard let all = try root.descriptor.openFolderIfPresent(Self.name) else { return [] }
            var found: [DatabaseID] = []
            for project in try names(in: all) {
                let folder = try all.openFolder(folderName(project))
                for database in try names(in: folder) {
                    guard let id = try? DatabaseID(project: project, database: database),
                        try folder.openFolder(folderName(database)).isInUse()
                    else { continue }
                    found.append(id)
                }
            }
            return found.sorted()
        }
    }

    /// What the folders in a folder are the names of.
    private func names(in folder: borrowing FileDescriptor) throws(SystemError) -> [UTF8Key] {
        var names: [UTF8Key] = []
        var listing = try folder.openForListing()
        while let entry = try listing.next() {
            guard case .id(let name) = naming.read(folder: entry.name), try folder.kind(of: entry) == .folder else { continue }
            names.append(name)
        }
        return names
    }
}
