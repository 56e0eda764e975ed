internal import DocumentModel

/// Finds out what a file system does to names.
enum FileSystemProbe {
    /// Names of which some file systems take the first and the second for one.
    private static let pairs = [("probe-a", "probe-A"), ("probe-\u{e9}", "probe-e\u{301}")].map {
        (name: TemporaryName.fixed($0), twin: TemporaryName.fixed($1))
    }

    /// The names of the files that are made for a moment.
    static var names: [String] { pairs.map(\.name) }

    /// Whether it takes two different names for one: because it folds case, or because it normalises Unicode.
    static func confusesNames(in folder: borrowing FileDescriptor) throws(StatusError) -> Bool {
        try reporting("try out names in", ".") { () throws(SystemError) in
            for (name, twin) in pairs {
                try folder.removeFile(name)
                try folder.removeFile(twin)
                do throws(SystemError) {
                    _ = try folder.openFile(name, for: .creating)
                } catch {
                    // It can't even hold the name.
                    if error.isInvalidName { return true }
                    throw error
                }
                let isConfused = try folder.status(of: twin) != nil
                try folder.removeFile(name)
                if isConfused { return true }
            }
            return false
        }
    }
}
