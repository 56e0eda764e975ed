import Testing

@Suite struct FileBytesTests {
    @Test func `Trailing zeros are counted but not stored`() {
        let bytes = FileBytes([1, 0, 2, 0, 0], count: 1 << 30)
        #expect(bytes.stored == [1, 0, 2])
        #expect(bytes.count == 1 << 30)
    }

    @Test func `A write beyond the end fills the gap with zeros`() {
        var bytes = FileBytes([1])
        bytes.write(FileBytes([2, 3]), at: 3)
        #expect(bytes == FileBytes([1, 0, 0, 2, 3]))
    }

    @Test func `Zeros overwrite existing bytes`() {
        var bytes = FileBytes([1, 2, 3, 4])
        bytes.write(FileBytes(count: 2), at: 1)
        #expect(bytes == FileBytes([1, 0, 0, 4]))
        bytes.write(FileBytes([9], count: 10), at: 3)
        #expect(bytes == FileBytes([1, 0, 0, 9], count: 13))
    }

    @Test func `Truncated bytes are not restored`() {
        var bytes = FileBytes([1, 0, 2])
        bytes.resize(to: 2)
        bytes.resize(to: 3)
        #expect(bytes == FileBytes([1], count: 3))
        bytes.grow(to: 2)
        #expect(bytes.count == 3)
    }

    @Test func `A prefix and the remaining bytes add up to the original`() {
        let whole = FileBytes([1, 2, 3], count: 6)
        for length in 0...6 {
            var joined = whole.prefix(length)
            joined.write(whole.dropFirst(length), at: length)
            #expect(joined == whole)
        }
    }
}
