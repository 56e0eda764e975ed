import Glibc
import Synchronization
import TestSupport
import Testing

@testable import StorageIO

@Suite("Folder watcher")
struct FolderWatcherTests {
    private let root: TemporaryFolder

    init() throws {
        root = try TemporaryFolder(in: TemporaryFolder.memory)
        try root.write("1", to: "c/a.json")
        try root.write("1", to: "c/b.json")
    }

    /// Limits under which nothing counts as changed because of its age.
    private static var patient: FolderWatcher.Limits {
        var limits = FolderWatcher.Limits()
        limits.maximumAge = .seconds(3_600)
        limits.maximumIdleTime = .seconds(3_600)
        return limits
    }

    private func changes(_ watcher: FolderWatcher, in folder: String = "c") throws -> FolderChanges? {
        try watcher.changes(in: FileDescriptor.folder(atPath: root[folder]), starting: true) { Issue.record($0) }
    }

    @Test(arguments: ["write", "append", "truncate", "touch", "replace", "remove", "move away", "create", "mode"])
    func `A change to an entry is seen at once, and no other entry counts as changed`(how: String) throws {
        let watcher = FolderWatcher(Self.patient)
        let before = try #require(try changes(watcher)).position
        let path = root["c/a.json"]
        switch how {
        case "write", "append", "truncate":
            let file = open(path, how == "append" ? O_WRONLY | O_APPEND : how == "truncate" ? O_WRONLY | O_TRUNC : O_WRONLY)
            if how != "truncate" { #expect(write(file, "2", 1) == 1) }
            close(file)
        case "touch": #expect(utimensat(AT_FDCWD, path, nil, 0) == 0)
        case "replace":
            try root.write("2", to: "other/a.json")
            #expect(rename(root["other/a.json"], path) == 0)
        case "remove": try root.remove("c/a.json")
        case "move away": #expect(rename(path, root["a.json"]) == 0)
        case "create":
            try root.remove("c/a.json")
            try root.write("2", to: "c/a.json")
        default: #expect(chmod(path, 0) == 0)
        }
        let after = try #require(try changes(watcher))
        #expect(after.mayInclude("a.json", after: before))
        #expect(!after.mayInclude("b.json", after: before))
        #expect(!after.mayInclude("a.json", after: after.position))
    }

    @Test
    func `Changes that are complete before the call are seen while other threads change and ask`() async throws {
        let watcher = FolderWatcher(Self.patient)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<4 {
                group.addTask {
                    let name = "t\(number).json"
                    try root.write("", to: "c/" + name)
                    for _ in 0..<500 {
                        let before = try #require(try changes(watcher)).position
                        #expect(utimensat(AT_FDCWD, root["c/" + name], nil, 0) == 0)
                        #expect(try #require(try changes(watcher)).mayInclude(name, after: before))
                    }
                }
            }
            try await group.waitForAll()
        }
    }

    @Test
    func `A file without a name, temporary files and hidden files are no changes, but their move to a name is`() throws {
        let watcher = FolderWatcher(Self.patient)
        let before = try #require(try changes(watcher)).position
        var writer = AtomicFileWriter(hasLeftoverTemporaryFile: false)
        let folder = try FileDescriptor.folder(atPath: root["c"])
        let new = try writer.write([1], modifiedAt: 0, in: folder, isReplacing: false)
        let replacing = try writer.write([1], modifiedAt: 0, in: folder, isReplacing: true)
        let staged = try #require(try changes(watcher))
        #expect(staged.entries.isEmpty)
        #expect(staged.position == before)
        try writer.moveIntoPlace(new, as: "n.json", in: folder)
        try writer.moveIntoPlace(replacing, as: "a.json", in: folder)
        let moved = try #require(try changes(watcher))
        #expect(["n.json", "a.json", "b.json"].map { moved.mayInclude($0, after: before) } == [true, true, false])
    }

    @Test
    func `Positions of another folder, and of a folder that was made again, count as changed`() throws {
        let watcher = FolderWatcher(Self.patient)
        try root.write("1", to: "d/a.json")
        let first = try #require(try changes(watcher)).position
        let other = try #require(try changes(watcher, in: "d")).position
        // Replaced by another watched folder.
        #expect(rename(root["c"], root["e"]) == 0)
        #expect(rename(root["d"], root["c"]) == 0)
        let replaced = try #require(try changes(watcher))
        #expect(replaced.mayInclude("a.json", after: first))
        #expect(!replaced.mayInclude("a.json", after: other))
        try root.remove("c")
        try root.write("1", to: "c/a.json")
        let created = try #require(try changes(watcher))
        #expect(created.mayInclude("a.json", after: first))
        #expect(created.mayInclude("a.json", after: other))
        // The watch of the removed folder has ended.
        #expect(watcher.folderCount == 2)
    }

    @Test
    func `A change of the folder's permissions may affect all entries`() throws {
        let watcher = FolderWatcher(Self.patient)
        let before = try #require(try changes(watcher)).position
        #expect(chmod(root["c"], 0o711) == 0)
        #expect(try #require(try changes(watcher)).mayInclude("b.json", after: before))
    }

    @Test
    func `When the kernel's queue overflows, everything counts as changed once`() throws {
        let watcher = FolderWatcher(Self.patient)
        let before = try #require(try changes(watcher)).position
        try overflowQueue(of: root)
        try root.write("1", to: "c/z.json")
        let after = try #require(try changes(watcher))
        #expect(after.mayInclude("z.json", after: before))
        #expect(try !#require(try changes(watcher)).mayInclude("z.json", after: after.position))
    }

    @Test
    func `A folder that is made again after the kernel's queue has overflown is watched anew`() throws {
        // Other file systems use the inode of a removed folder again.
        let root = try TemporaryFolder()
        for name in ["a", "b"] { try root.write("1", to: "c/\(name).json") }
        let watcher = FolderWatcher(Self.patient)
        func changes() throws -> FolderChanges? {
            try watcher.changes(in: FileDescriptor.folder(atPath: root["c"]), starting: true) { Issue.record($0) }
        }
        _ = try changes()
        try overflowQueue(of: root)
        try root.remove("c")
        try root.write("1", to: "c/a.json")
        let before = try #require(try changes()).position
        try root.write("2", to: "c/a.json")
        #expect(try #require(try changes()).mayInclude("a.json", after: before))
    }

    /// Changes two files of a watched folder more often than the kernel queues.
    private func overflowQueue(of root: TemporaryFolder) throws {
        let limit = try #require(Int(String(decoding: try maximumQueuedEvents(), as: UTF8.self).filter(\.isNumber)))
        // The kernel merges equal events that follow each other.
        for number in 0...limit {
            utimensat(AT_FDCWD, root[number.isMultiple(of: 2) ? "c/a.json" : "c/b.json"], nil, 0)
        }
    }

    private func maximumQueuedEvents() throws -> [UInt8] {
        try FileDescriptor.folder(atPath: "/proc/sys/fs/inotify").openFile("max_queued_events", for: .reading).read(20)
    }

    @Test
    func `More changed entries than the limit are changes of all entries`() throws {
        var limits = Self.patient
        limits.entries = 3
        let watcher = FolderWatcher(limits)
        let before = try #require(try changes(watcher)).position
        for number in 0..<3 { try root.write("1", to: "c/.staging-\(number)") }
        for number in 0..<3 { #expect(rename(root["c/.staging-\(number)"], root["c/n\(number).json"]) == 0) }
        #expect(try !#require(try changes(watcher)).mayInclude("b.json", after: before))
        try root.remove("c/a.json")
        let after = try #require(try changes(watcher))
        #expect(after.mayInclude("b.json", after: before))
        #expect(after.entries.isEmpty)
    }

    @Test
    func `All entries count as changed after the maximum age`() throws {
        var limits = Self.patient
        limits.maximumAge = .zero
        let watcher = FolderWatcher(limits)
        let before = try #require(try changes(watcher)).position
        #expect(try #require(try changes(watcher)).mayInclude("b.json", after: before))
    }

    @Test
    func `The number of watched folders is limited, and idle ones make room`() throws {
        var limits = Self.patient
        limits.folders = 2
        let patient = FolderWatcher(limits)
        limits.maximumIdleTime = .zero
        let impatient = FolderWatcher(limits)
        for name in ["d", "e"] { try root.write("", to: name + "/a.json") }
        for name in ["c", "d"] { #expect(try changes(patient, in: name) != nil) }
        #expect(try changes(patient, in: "e") == nil)
        for name in ["c", "d", "e"] { #expect(try changes(impatient, in: name) != nil) }
        patient.removeIdleWatches()
        impatient.removeIdleWatches()
        #expect([patient.folderCount, impatient.folderCount] == [2, 0])
        #expect(try impatient.changes(in: FileDescriptor.folder(atPath: root["c"]), starting: false) { Issue.record($0) } == nil)
    }

    @Test(arguments: [(FolderWatcher.SystemCall.openQueue, EMFILE), (.addWatch, ENOSPC)])
    func `A refusal of the system is reported once, and folders are watched when it permits it`(
        call: FolderWatcher.SystemCall,
        code: Int32
    ) throws {
        var limits = Self.patient
        limits.retryInterval = .zero
        let isFull = Mutex(true)
        let watcher = FolderWatcher(limits) { next throws(FileSystemError) in
            if next == call, isFull.withLock({ $0 }) { throw FileSystemError("inotify", code: code) }
        }
        var reported: [Int32] = []
        for _ in 0..<3 {
            let folder = try FileDescriptor.folder(atPath: root["c"])
            #expect(watcher.changes(in: folder, starting: true) { reported.append($0.code) } == nil)
        }
        #expect(reported == [code])
        isFull.withLock { $0 = false }
        #expect(try changes(watcher) != nil)
    }

    @Test
    func `A folder of a file system that does not report all changes is not watched`() throws {
        let watcher = FolderWatcher(Self.patient)
        #expect(try watcher.changes(in: FileDescriptor.folder(atPath: "/proc/self"), starting: true) { Issue.record($0) } == nil)
        #expect(watcher.folderCount == 0)
    }
}
