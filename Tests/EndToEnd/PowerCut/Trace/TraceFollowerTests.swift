import StrictJSON
import Testing

@Suite struct TraceFollowerTests {
    /// Follows calls, in which strings are written plainly, on the folder `/t`.
    private func follow(_ lines: String...) throws -> TraceFollower {
        var follower = TraceFollower(root: "/t")
        try follower.follow(TraceReader.calls(in: Array(lines.map { "1 " + Self.escape($0) }.joined(separator: "\n").utf8)))
        return follower
    }

    private static func escape(_ line: String) -> String {
        line.split(separator: "\"", omittingEmptySubsequences: false).enumerated()
            .map { index, part in
                index.isMultiple(of: 2)
                    ? String(part)
                    : "\"" + part.utf8.map { "\\x" + ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined() + "\""
            }
            .joined()
    }

    private func paths(_ follower: TraceFollower) -> [String] {
        follower.tree.items.map { $0.path.map(\.string).joined(separator: "/") }
    }

    @Test func `a file that is made, written and renamed has its bytes under the new name`() throws {
        let follower = try follow(
            #"mkdir("/t/data", 0700) = 0"#,
            #"open("/t/data", O_RDONLY|O_DIRECTORY) = 3"#,
            #"openat(3, "a.tmp", O_RDWR|O_CREAT|O_EXCL, 0600) = 4"#,
            #"pwrite64(4, "hello", 5, 2) = 5"#,
            #"fsync(4) = 0"#,
            #"close(4) = 0"#,
            #"renameat(3, "a.tmp", 3, "a") = 0"#,
            #"fsync(3) = 0"#
        )
        #expect(paths(follower) == ["data", "data/a"])
        #expect(follower.tree.items[1].bytes == FileBytes([0, 0] + Array("hello".utf8)))
        let syncs = follower.events.compactMap { if case .sync(let scope, _, let begin) = $0 { (scope, begin) } else { nil } }
        #expect(syncs.map(\.0) == [.inode(Inode(number: 2, isFolder: false)), .inode(Inode(number: 1, isFolder: true))])
        #expect(syncs.map(\.1) == [5, 8])
    }

    @Test(arguments: [
        #"linkat(AT_FDCWD, "/proc/self/fd/4", 3, "a", AT_SYMLINK_FOLLOW) = 0"#,
        #"linkat(4, "", 3, "a", AT_EMPTY_PATH) = 0"#,
    ])
    func `a file that is written without a name has its bytes under the name that it is given`(link: String) throws {
        let follower = try follow(
            #"mkdir("/t/data", 0700) = 0"#,
            #"open("/t/data", O_RDONLY|O_DIRECTORY) = 3"#,
            #"openat(3, ".", O_RDWR|O_CLOEXEC|O_TMPFILE, 0600) = 4"#,
            #"pwrite64(4, "hello", 5, 0) = 5"#,
            link
        )
        #expect(paths(follower) == ["data", "data/a"])
        #expect(follower.tree.items[1].bytes == FileBytes(Array("hello".utf8)))
        #expect(follower.events.count == 3)
    }

    @Test func `what is written elsewhere was sent`() throws {
        let follower = try follow(
            #"openat(AT_FDCWD, "/etc/passwd", O_RDONLY) = 4"#,
            #"pwrite64(4, "x", 1, 0) = 1"#,
            #"write(9, "answer", 6) = 6"#
        )
        #expect(follower.events == [.sent(Array("answer".utf8))])
    }

    @Test func `a descriptor that is given out again stands for the new file`() throws {
        let follower = try follow(
            #"mkdir("/t/d", 0700) = 0"#,
            #"open("/t/d", O_RDONLY|O_DIRECTORY) = 3"#,
            #"openat(3, "a", O_RDWR|O_CREAT, 0600) = 4"#,
            #"dup(4) = 5"#,
            #"close(4) = 0"#,
            #"openat(3, "b", O_RDWR|O_CREAT, 0600) = 4"#,
            #"pwrite64(4, "b", 1, 0) = 1"#,
            #"pwrite64(5, "a", 1, 0) = 1"#
        )
        #expect(follower.tree.items.dropFirst().map(\.bytes) == [FileBytes(Array("a".utf8)), FileBytes(Array("b".utf8))])
    }

    @Test func `a removed folder is gone, and a new one of the same name is another`() throws {
        let follower = try follow(
            #"mkdir("/t/d", 0700) = 0"#,
            #"mkdir("/t/d/e", 0700) = 0"#,
            #"rmdir("/t/d/e") = 0"#,
            #"mkdir("/t/d/e", 0700) = 0"#,
            #"unlinkat(7, "d", AT_REMOVEDIR) = 0"#
        )
        #expect(paths(follower) == ["d", "d/e"])
        #expect(Set(follower.events).count == 4)
    }

    @Test func `paths lead up and down, and out`() throws {
        let follower = try follow(
            #"mkdir("/t/d", 0700) = 0"#,
            #"openat(AT_FDCWD, "/t/d/..", O_RDONLY|O_DIRECTORY) = 3"#,
            #"openat(3, "./d/../d", O_RDONLY|O_DIRECTORY) = 4"#,
            #"openat(3, "..", O_RDONLY|O_DIRECTORY) = 5"#,
            #"fsync(3) = 0"#,
            #"fsync(4) = 0"#,
            #"fsync(5) = 0"#
        )
        let scopes = follower.events.compactMap { if case .sync(let scope, _, _) = $0 { scope } else { nil } }
        #expect(scopes == [.inode(.root), .inode(Inode(number: 1, isFolder: true))])
    }

    @Test func `failed calls change nothing`() throws {
        let follower = try follow(#"mkdir("/t/d", 0700) = -1 EEXIST (File exists)"#, "fsync(3) = -1 EIO (Input/output error)")
        #expect(follower.events.isEmpty)
    }

    @Test(arguments: [
        #"openat(3, "log", O_RDWR|O_CREAT|O_APPEND, 0600) = 5"#, #"openat(3, "foreign", O_RDONLY) = 5"#,
        #"write(4, "x", 1) = 1"#, #"fallocate(4, 0, 0, 100) = 0"#, #"renameat(3, "a", 9, "a") = 0"#,
        #"link("/t/d/a", "/t/d/b") = 0"#, #"linkat(3, "a", 3, "b", 0) = 0"#, #"pwrite64(4, "x"..., 100, 0) = 100"#,
    ])
    func `what can't be followed is an error`(line: String) throws {
        #expect(throws: TraceFollower.Failure.self) {
            try follow(
                #"mkdir("/t/d", 0700) = 0"#,
                #"open("/t/d", O_RDONLY|O_DIRECTORY) = 3"#,
                #"openat(3, "a", O_RDWR|O_CREAT, 0600) = 4"#,
                line
            )
        }
    }
}
