import Testing
import UTF8Text

@Suite struct TraceReaderTests {
    private func calls(_ trace: String) throws -> [SystemCall] {
        try TraceReader.calls(in: Array(trace.utf8))
    }

    @Test func `Parses name, arguments, strings and result`() throws {
        let call = try #require(try calls(#"71 openat(5, "\x61\x2e", O_RDWR|O_CREAT|O_CLOEXEC, 0600) = 7"#).first)
        #expect(call.name == "openat")
        #expect(call.arguments == ["5", "", "O_RDWR|O_CREAT|O_CLOEXEC", "0600"])
        #expect(call.strings == [.init(bytes: Array("a.".utf8), isTruncated: false)])
        #expect(call.result == 7)
    }

    @Test func `Marks truncated strings`() throws {
        let call = try #require(try calls(#"71 pwrite64(5, "\x00\x00"..., 1048576, 0) = 1048576"#).first)
        #expect(call.strings == [.init(bytes: [0, 0], isTruncated: true)])
        #expect(call.number(2) == 1_048_576)
    }

    @Test func `Extracts strings in structures`() throws {
        let call = try #require(
            try calls(#"71 writev(5, [{iov_base="\x71", iov_len=1}, {iov_base="\x72", iov_len=1}], 2) = 2"#).first
        )
        #expect(call.strings.map(\.bytes) == [[0x71], [0x72]])
        #expect(call.arguments.count == 3)
    }

    @Test(arguments: [
        #"71 openat(AT_FDCWD, "\x61", O_RDONLY) = -1 ENOENT (No such file or directory)"#,
        "71 fsync(5) = ?",
        "71 fsync(5 <unfinished ...>) = ?",
    ])
    func `A call that failed or never returned has no result`(line: String) throws {
        #expect(try calls(line).first?.result == nil)
    }

    @Test func `Parses flags and hexadecimal results`() throws {
        #expect(try calls("71 fcntl(8, F_GETFL)                 = 0x18000 (flags O_RDONLY)").first?.result == 0x18000)
        #expect(try calls("71 sync() = 0").first?.arguments == [])
    }

    @Test func `Orders overlapping calls by their return`() throws {
        let calls = try calls(
            #"""
            71 fdatasync(5 <unfinished ...>
            72 renameat(3, "\x61", 3, "\x62" <unfinished ...>
            73 close(9) = 0
            72 <... renameat resumed>) = 0
            71 <... fdatasync resumed>)          = 0
            71 +++ exited with 0 +++
            """#
        )
        #expect(calls.map(\.name) == ["close", "renameat", "fdatasync"])
        #expect(calls.map(\.begin) == [3, 2, 1])
        #expect(calls.map(\.end) == [3, 4, 5])
        #expect(calls.map(\.result) == [0, 0, 0])
    }

    @Test(arguments: [
        "71 fsync(5 <unfinished ...>\n71 +++ killed by SIGKILL +++",
        "71 fsync(5 <unfinished ...>\n71 <... fsync resumed> <detached ...>",
        "71 ???( <detached ...>",
    ])
    func `Omits calls during which the program was killed`(trace: String) throws {
        #expect(try calls(trace) == [])
    }

    @Test(arguments: [
        "", "nonsense", "71 nonsense", #"71 write(5, "\x6", 1) = 1"#, "71 close(5) = yes", "71 <... close resumed>) = 0",
    ])
    func `Rejects other lines`(line: String) {
        #expect(throws: SystemCall.SyntaxError.self) { try calls(line + "\n71 close(1)") }
    }
}
