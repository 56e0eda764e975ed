package import Testing

/// The tags of suites and tests. `Tests/tagged` runs the tests of one of them.
extension Tag {
    /// Tests in which a process is killed, power is lost, system calls fail or files are damaged.
    @Tag package static var crash: Tag
    /// Tests that take more than a few seconds on an idle machine.
    @Tag package static var slow: Tag
}
