internal import DocumentModel

// Files that lie beside the documents in the data folder itself.

extension DataFolder {
    /// The names that files have until they are finished: each one of its own, since several may be written at the same time.
    static let fileTemporaries = [IndexDefinitions.fileName, WaitingDocuments.fileName].map(TemporaryName.fixed)

    /// Which file is in the data folder itself under a name; nil when there is none, or something else.
    func identity(ofFile name: String) throws(StatusError) -> FileIdentity? {
        let status = try reporting("look at", name) { () throws(SystemError) in try root.status(of: name) }
        return status?.kind == .file ? status?.identity : nil
    }

    /// Makes an empty file in the data folder itself.
    func makeFile(_ name: String) throws(StatusError) {
        try reporting("make", name) { () throws(SystemError) in _ = try root.openFile(name, for: .creating) }
    }

    /// Makes an empty file in the data folder itself whose name is free again at once, so that it is gone when it is closed.
    func makeUnlistedFile(_ name: String) throws(StatusError) -> FileDescriptor {
        try reporting("make", name) { () throws(SystemError) in
            let file = try root.openFile(name, for: .creating)
            try root.removeFile(name)
            return file
        }
    }

    /// What is in a file of the data folder itself, up to so many bytes; nil when there is none.
    func contents(ofFile name: String, maximumBytes: Int = 16 << 20) throws(StatusError) -> [UInt8]? {
        try reporting("read", name) { () throws(SystemError) in
            try root.contents(ofFile: name, maximumBytes: maximumBytes)
        }
    }

    /// Puts another file in the place of one of the data folder itself; on disk when this returns.
    func replaceFile(_ name: String, with bytes: [UInt8]) throws(StatusError) {
        try reporting("write", name) { () throws(SystemError) in
            try root.replaceFile(name, with: bytes, through: TemporaryName.fixed(name))
        }
    }

    /// Removes a file from the data folder itself, if it is there.
    func removeFile(_ name: String) throws(StatusError) {
        try reporting("remove", name) { () throws(SystemError) in _ = try root.removeFile(name) }
    }

    /// Gives what has a name in the data folder itself another name, which nothing has yet: the name with a number behind it.
    func moveAside(_ name: String) throws(StatusError) {
        try reporting("move", name) { () throws(SystemError) in
            var number = 1
            while try root.status(of: "\(name).aside-\(number)") != nil { number += 1 }
            try root.rename(name, to: "\(name).aside-\(number)")
        }
    }

    /// Whether there is anything under a name in the data folder itself.
    func holds(_ name: String) throws(StatusError) -> Bool {
        try reporting("look at", name) { () throws(SystemError) in try root.status(of: name) != nil }
    }

    /// Brings the contents of a file in the data folder itself to disk.
    func synchronizeFile(_ name: String) throws(StatusError) {
        try reporting("sync", name) { () throws(SystemError) in try root.openFile(name, for: .updating).synchronize() }
    }
}
