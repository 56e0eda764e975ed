import Testing

@testable import HearthCLI

@Suite("The table of mounted file systems")
struct MountTableTests {
    private let table = MountTable(
        """
        22 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw,errors=remount-ro
        40 22 0:35 / /tmp rw,nosuid - tmpfs tmpfs rw,size=1024k
        41 22 0:40 / /mnt/my\\040data rw master:3 propagate_from:2 - nfs4 nas:/export rw,vers=4.2
        42 22 8:17 / /srv ro,noatime - xfs /dev/sdb1 rw,nobarrier
        43 22 8:33 / /srv rw - btrfs /dev/sdc1 rw
        44 22 0:50 / /var/lib/docker rw - overlay overlay rw,lowerdir=/a
        not a mount
        45 22 0:51 / /cut - ext4
        """
    )

    @Test(arguments: [
        ("/", "ext4"), ("/home/me", "ext4"), ("/tmp", "tmpfs"), ("/tmp/a/b", "tmpfs"), ("/tmpfiles", "ext4"),
        ("/mnt/my data/hearth", "nfs4"), ("/cut/a", "ext4"),
    ])
    func `A folder is on the file system with the longest path that holds it`(path: String, type: String) {
        #expect(table.mount(of: path)?.type == type)
    }

    @Test
    func `A later mount hides an earlier one on the same folder`() {
        #expect(table.mount(of: "/srv/a")?.source == "/dev/sdc1")
    }

    @Test
    func `The options of the mount and of its file system are merged`() {
        #expect(table.mount(of: "/mnt/my data")?.options == ["rw", "vers=4.2"])
        #expect(table.mount(of: "/")?.options == ["rw", "relatime", "errors=remount-ro"])
    }

    @Test(arguments: [("/", nil), ("/tmp", "in memory"), ("/mnt/my data", "nfs4"), ("/var/lib/docker/x", "volume")])
    func `A file system on which documents are not safe is a problem`(path: String, problem: String?) throws {
        let problems = try #require(table.mount(of: path)).problems
        #expect(problems.count == (problem == nil ? 0 : 1))
        #expect(problem.map { word in problems.contains { $0.contains(word) } } ?? true)
    }

    @Test
    func `Missing barriers and a read-only file system are problems`() {
        let table = MountTable("42 22 8:17 / /srv ro,noatime - xfs /dev/sdb1 rw,nobarrier")
        #expect(table.mount(of: "/srv")?.problems.count == 2)
    }

    @Test
    func `An empty table holds nothing`() {
        #expect(MountTable("").mount(of: "/") == nil)
    }
}
