internal import DocumentModel
internal import StrictJSON

extension DocumentCheck {
    /// What is in a folder; what can't be there is reported.
    mutating func entries(
        of folder: borrowing FileDescriptor,
        _ place: String,
        at level: FolderEntry.Level,
        depth: Int,
        _ log: inout CheckLog
    ) throws(StatusError) -> [(name: String, entry: FolderEntry)] {
        // Deeper than any path leads there can be no document.
        guard depth <= 2 * DocumentLimits.maximumSubcollectionDepth else { return [] }
        var entries: [(name: String, entry: FolderEntry)] = []
        do throws(StatusError) {
            try files.folders.forEachEntry(of: folder, place, at: level) { name, entry in
                switch entry {
                case .document, .folder: entries.append((name, entry))
                case .foreign(let fault): log.add(CheckFinding(.foreignName, fault, file: place + "/" + name))
                case .ignored:
                    if TemporaryName.matches(Array(name.utf8)) { log.add(.temporary(place + "/" + name)) }
                }
                return true
            }
        } catch {
            guard error.concernsOneFile else { throw error }
            report(error, ofFolder: place, &log)
        }
        return entries
    }

    private mutating func report(_ error: StatusError, ofFolder place: String, _ log: inout CheckLog) {
        log.add(CheckFinding(error, file: place))
        unreadable.append(place + "/")
    }

    /// Opens a folder; nil when that fails, which is reported.
    mutating func open(
        _ name: String,
        _ key: UTF8Key?,
        in folder: borrowing FileDescriptor,
        _ place: String,
        _ log: inout CheckLog
    ) -> OpenedFolder? {
        let file = place + "/" + name
        do throws(StatusError) {
            guard let id = try files.folders.id(ofFolder: name, key, in: folder, place) else { return nil }
            let opened = try reporting("open", file) { () throws(SystemError) in try folder.openFolder(name) }
            return OpenedFolder(folder: opened, id: id)
        } catch {
            if error.code == .dataLoss {
                log.add(CheckFinding(.foreignName, error.message, file: file))
            } else {
                report(error, ofFolder: file, &log)
            }
            return nil
        }
    }

    /// A folder, and the ID that its name stands for.
    struct OpenedFolder: ~Copyable {
        let folder: FileDescriptor
        let id: UTF8Key
    }
}
