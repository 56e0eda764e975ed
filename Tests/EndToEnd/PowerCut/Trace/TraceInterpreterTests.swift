import Testing
import UTF8Text

@Suite struct TraceInterpreterTests {
    /// Interprets calls, with unescaped strings, on the folder `/t`.
    private func interpret(_ lines: String...) throws -> TraceInterpreter {
        var interpreter = TraceInterpreter(root: "/t")
        try interpreter.interpret(TraceReader.calls(in: Array(lines.map { "1 " + Self.escape($0) }.joined(separator: "\n").utf8)))
        return interpreter
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

    private func paths(_ interpreter: TraceInterpreter) -> [String] {
        interpreter.tree.items.map { $0.path.map(\.string).joined(separator: "/") }
    }

    @Test func `A created, written and renamed file has its bytes under the new name`() throws {
        let interpreter = try interpret(
            #"mkdir("/t/data", 0700) = 0"#,
            #"open("/t/data", O_RDONLY|O_DIRECTORY) = 3"#,
            #"openat(3, "a.tmp", O_RDWR|O_CREAT|O_EXCL, 0600) = 4"#,
            #"pwrite64(4, "hello", 5, 2) = 5"#,
            #"fsync(4) = 0"#,
            #"close(4) = 0"#,
            #"renameat(3, "a.tmp", 3, "a") = 0"#,
            #"fsync(3) = 0"#
        )
        #expect(paths(interpreter) == ["data", "data/a"])
        #expect(interpreter.tree.items[1].bytes == FileBytes([0, 0] + Array("hello".utf8)))
        let syncs = interpreter.events.compactMap { if case .sync(let scope, _, let begin) = $0 { (scope, begin) } else { nil } }
        #expect(syncs.map(\.0) == [.inode(Inode(number: 2, isFolder: false)), .inode(Inode(number: 1, isFolder: true))])
        #expect(syncs.map(\.1) == [5, 8])
    }

    @Test func `Exchanged files have each other's names`() throws {
        let interpreter = try interpret(
            #"mkdir("/t/data", 0700) = 0"#,
            #"open("/t/data", O_RDONLY|O_DIRECTORY) = 3"#,
            #"openat(3, "a", O_RDWR|O_CREAT|O_EXCL, 0600) = 4"#,
            #"pwrite64(4, "old", 3, 0) = 3"#,
            #"openat(3, "a.tmp", O_RDWR|O_CREAT|O_EXCL, 0600) = 5"#,
            #"pwrite64(5, "new", 3, 0) = 3"#,
            #"renameat2(3, "a.tmp", 3, "a", RENAME_EXCHANGE) = 0"#
        )
        #expect(paths(interpreter) == ["data", "data/a", "data/a.tmp"])
        let contents = interpreter.tree.items.dropFirst().map(\.bytes)
        #expect(contents == [FileBytes(Array("new".utf8)), FileBytes(Array("old".utf8))])
    }

    @Test(arguments: [
        #"linkat(AT_FDCWD, "/proc/self/fd/4", 3, "a", AT_SYMLINK_FOLLOW) = 0"#,
        #"linkat(4, "", 3, "a", AT_EMPTY_PATH) = 0"#,
    ])
    func `An unnamed file has its bytes under its linked name`(link: String) throws {
        let interpreter = try interpret(
            #"mkdir("/t/data", 0700) = 0"#,
            #"open("/t/data", O_RDONLY|O_DIRECTORY) = 3"#,
            #"openat(3, ".", O_RDWR|O_CLOEXEC|O_TMPFILE, 0600) = 4"#,
            #"pwrite64(4, "hello", 5, 0) = 5"#,
            link
        )
        #expect(paths(interpreter) == ["data", "data/a"])
        #expect(interpreter.tree.items[1].bytes == FileBytes(Array("hello".utf8)))
        #expect(interpreter.events.count == 3)
    }

    @Test func `Writes to other descriptors are recorded as sent`() throws {
        let interpreter = try interpret(
            #"openat(AT_FDCWD, "/etc/passwd", O_RDONLY) = 4"#,
            #"pwrite64(4, "x", 1, 0) = 1"#,
            #"write(9, "answer", 6) = 6"#
        )
        #expect(interpreter.events == [.sent(Array("answer".utf8))])
    }

    @Test func `A reused descriptor refers to the new file`() throws {
        let interpreter = try interpret(
            #"mkdir("/t/d", 0700) = 0"#,
            #"open("/t/d", O_RDONLY|O_DIRECTORY) = 3"#,
            #"openat(3, "a", O_RDWR|O_CREAT, 0600) = 4"#,
            #"dup(4) = 5"#,
            #"close(4) = 0"#,
            #"openat(3, "b", O_RDWR|O_CREAT, 0600) = 4"#,
            #"pwrite64(4, "b", 1, 0) = 1"#,
            #"pwrite64(5, "a", 1, 0) = 1"#
        )
        #expect(interpreter.tree.items.dropFirst().map(\.bytes) == [FileBytes(Array("a".utf8)), FileBytes(Array("b".utf8))])
    }

    @Test func `A recreated folder is a new inode`() throws {
        let interpreter = try interpret(
            #"mkdir("/t/d", 0700) = 0"#,
            #"mkdir("/t/d/e", 0700) = 0"#,
            #"rmdir("/t/d/e") = 0"#,
            #"mkdir("/t/d/e", 0700) = 0"#,
            #"unlinkat(7, "d", AT_REMOVEDIR) = 0"#
        )
        #expect(paths(interpreter) == ["d", "d/e"])
        #expect(Set(interpreter.events).count == 4)
    }

    @Test func `Relative paths are resolved`() throws {
        let interpreter = try interpret(
            #"mkdir("/t/d", 0700) = 0"#,
            #"openat(AT_FDCWD, "/t/d/..", O_RDONLY|O_DIRECTORY) = 3"#,
            #"openat(3, "./d/../d", O_RDONLY|O_DIRECTORY) = 4"#,
            #"openat(3, "..", O_RDONLY|O_DIRECTORY) = 5"#,
            #"fsync(3) = 0"#,
            #"fsync(4) = 0"#,
            #"fsync(5) = 0"#
        )
        let scopes = interpreter.events.compactMap { if case .sync(let scope, _, _) = $0 { scope } else { nil } }
        #expect(scopes == [.inode(.root), .inode(Inode(number: 1, isFolder: true))])
    }

    @Test func `Failed calls are ignored`() throws {
        let interpreter = try interpret(
            #"mkdir("/t/d", 0700) = -1 EEXIST (File exists)"#,
            "fsync(3) = -1 EIO (Input/output error)"
        )
        #expect(interpreter.events.isEmpty)
    }

    @Test(arguments: [
        #"openat(3, "log", O_RDWR|O_CREAT|O_APPEND, 0600) = 5"#, #"openat(3, "foreign", O_RDONLY) = 5"#,
        #"write(4, "x", 1) = 1"#, #"fallocate(4, 0, 0, 100) = 0"#, #"renameat(3, "a", 9, "a") = 0"#,
        #"link("/t/d/a", "/t/d/b") = 0"#, #"linkat(3, "a", 3, "b", 0) = 0"#, #"pwrite64(4, "x"..., 100, 0) = 100"#,
    ])
    func `Unsupported calls are errors`(line: String) throws {
        #expect(throws: TraceInterpreter.Failure.self) {
            try interpret(
                #"mkdir("/t/d", 0700) = 0"#,
                #"open("/t/d", O_RDONLY|O_DIRECTORY) = 3"#,
                #"openat(3, "a", O_RDWR|O_CREAT, 0600) = 4"#,
                line
            )
        }
    }
}
