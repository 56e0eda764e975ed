import Foundation

/// Files whose changes are noticed by their status.
struct WatchedFiles {
    private struct Status: Equatable {
        var modificationTime: timespec
        var size: off_t
        var number: ino_t

        static func == (left: Status, right: Status) -> Bool {
            left.modificationTime.tv_sec == right.modificationTime.tv_sec
                && left.modificationTime.tv_nsec == right.modificationTime.tv_nsec && left.size == right.size
                && left.number == right.number
        }
    }

    private var statuses: [String: Status?] = [:]

    mutating func add(_ path: String) {
        statuses.updateValue(Self.status(of: path), forKey: path)
    }

    /// Returns the files that have changed since the last call and exist.
    mutating func takeChanges() -> Set<String> {
        var changed: Set<String> = []
        for (path, known) in statuses {
            let status = Self.status(of: path)
            guard status != known else { continue }
            statuses.updateValue(status, forKey: path)
            if status != nil { changed.insert(path) }
        }
        return changed
    }

    /// Forgets what is known of all files: the next call of ``takeChanges()`` returns those that exist.
    mutating func forget() {
        for path in statuses.keys { statuses.updateValue(nil, forKey: path) }
    }

    private static func status(of path: String) -> Status? {
        var status = stat()
        guard stat(path, &status) == 0 else { return nil }
        return Status(modificationTime: status.st_mtim, size: status.st_size, number: status.st_ino)
    }
}
