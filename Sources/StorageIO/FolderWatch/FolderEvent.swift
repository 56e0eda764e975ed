internal import CLinux
internal import Glibc

/// A change that the kernel has queued for a watched folder.
enum FolderEvent {
    /// The contents, the metadata or the existence of an entry changed.
    case entryChanged(watch: Int32, NameHash)
    /// The metadata of the folder changed, which may affect the access to all entries.
    case folderChanged(watch: Int32)
    /// The watch ended, because it was removed or the folder was.
    case ended(watch: Int32)
    /// Events of any folders were lost, also about the end of watches.
    case overflow
}

extension FileDescriptor {
    /// Opens a queue of the changes in watched folders (`inotify`).
    static func makeEventQueue() throws(FileSystemError) -> FileDescriptor {
        FileDescriptor(try call("inotify_init1") { inotify_init1(O_NONBLOCK | O_CLOEXEC) })
    }

    /// Adds a watch of a folder to this queue, and returns its number.
    ///
    /// The kernel does not queue writes to a file that has no name in the folder, but changes of its times.
    ///
    /// - Parameter changes: The changes of files to be queued, besides those of the entries.
    func addWatch(of folder: borrowing FileDescriptor, for changes: UInt32) throws(FileSystemError) -> Int32 {
        // No system call takes an open folder.
        let path = "/proc/self/fd/\(folder.number)"
        let entries = UInt32(IN_CREATE | IN_DELETE | IN_MOVED_FROM | IN_MOVED_TO | IN_ONLYDIR | IN_EXCL_UNLINK)
        return try Self.call("inotify_add_watch") { inotify_add_watch(number, path, entries | changes) }
    }

    /// Removes a watch from this queue.
    func removeWatch(_ watch: Int32) throws(FileSystemError) {
        try Self.call("inotify_rm_watch") { inotify_rm_watch(number, watch) }
    }

    /// Removes all events from this queue, and returns those that matter. Never blocks. An overflow is the last event.
    func readEvents() throws(FileSystemError) -> [FolderEvent] {
        var events: [FolderEvent] = []
        var failure: FileSystemError?
        withUnsafeTemporaryAllocation(byteCount: Self.eventBufferBytes, alignment: MemoryLayout<inotify_event>.alignment) {
            buffer in
            var count = 0
            repeat {
                do throws(FileSystemError) {
                    count = try Self.call("read") { Glibc.read(number, buffer.baseAddress, buffer.count) }
                } catch {
                    if error.code != EAGAIN { failure = error }
                    return
                }
                var rest = UnsafeRawBufferPointer(rebasing: buffer[..<count])
                while !rest.isEmpty {
                    guard let event = FolderEvent(removingFirstOf: &rest) else { continue }
                    events.append(event)
                    if case .overflow = event { return }
                }
                if events.count > Self.maximumEventCount { return events.append(.overflow) }
                // Otherwise the queue is empty: another event would have fitted.
            } while count > buffer.count - Self.maximumEventBytes
        }
        if let failure { throw failure }
        return events
    }

    /// The number of events after which a queue that others fill meanwhile is given up.
    private static let maximumEventCount = 1 << 15
    private static let eventBufferBytes = 4_096
    private static let maximumEventBytes = MemoryLayout<inotify_event>.size + 256

    /// Returns whether all changes in the folder are reported with the names of its entries: only this system changes its file
    /// system, and names have one spelling.
    package var reportsAllChanges: Bool {
        Self.localFileSystems.contains(clinux_file_system_type(number)) && clinux_folds_case(number) == 0
    }

    /// The types of ext2 to ext4, XFS, btrfs, tmpfs and F2FS.
    private static let localFileSystems: Set<UInt32> = [0xef53, 0x5846_5342, 0x9123_683e, 0x0102_1994, 0xf2f5_2010]
}

/// An event in the form of the kernel.
struct QueuedFolderEvent {
    let watch: Int32
    /// The name of the entry; empty for the folder itself.
    let name: Slice<UnsafeRawBufferPointer>
    private let mask: UInt32

    /// Removes the first event from the bytes of a queue. Its name is valid as long as they are.
    init(removingFirstOf bytes: inout UnsafeRawBufferPointer) {
        let event = bytes.loadUnaligned(as: inotify_event.self)
        watch = event.wd
        mask = event.mask
        name = bytes[MemoryLayout<inotify_event>.size...].prefix(Int(event.len)).prefix { $0 != 0 }
        bytes = UnsafeRawBufferPointer(rebasing: bytes[(MemoryLayout<inotify_event>.size + Int(event.len))...])
    }

    /// Returns whether the event has one of the flags.
    func has(_ flags: UInt32) -> Bool { mask & flags != 0 }
}

extension FolderEvent {
    /// Removes the first event from the bytes of a queue; `nil` for changes that do not matter.
    fileprivate init?(removingFirstOf bytes: inout UnsafeRawBufferPointer) {
        let event = QueuedFolderEvent(removingFirstOf: &bytes)
        if event.has(UInt32(IN_Q_OVERFLOW)) {
            self = .overflow
        } else if event.has(UInt32(IN_IGNORED)) {
            self = .ended(watch: event.watch)
        } else if event.name.isEmpty {
            self = .folderChanged(watch: event.watch)
        } else if event.name.first != UInt8(ascii: "."), !Self.isUnnamedFile(event.name) {
            self = .entryChanged(watch: event.watch, NameHash(event.name))
        } else {
            return nil
        }
    }

    /// Returns whether the kernel has made up a name, `#` and the number of the inode, for a file without one.
    private static func isUnnamedFile(_ name: some Collection<UInt8>) -> Bool {
        name.first == UInt8(ascii: "#") && name.dropFirst().allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
    }
}
