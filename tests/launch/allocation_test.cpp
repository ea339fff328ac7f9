// SPDX-License-Identifier: Apache-2.0
// The hosts of a Slurm allocation.
#include "launch/slurm/allocation.hpp"

#include <string>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "launch/hosts.hpp"

namespace tutti::launch {
namespace {

std::string nodes(std::string_view list) {
  const Result<std::vector<std::string>> found = nodes_of_list(list);
  return found.ok() ? fmt::format("{}", fmt::join(*found, " ")) : found.status().to_string();
}

std::string hosts(const Environment& environment) {
  const Result<std::string> found = hosts_of_allocation(environment);
  return found.ok() ? *found : found.status().to_string();
}

TEST(Allocation, ListsOfNodesAreSpelledOut) {
  EXPECT_EQ(nodes("a"), "a");
  EXPECT_EQ(nodes("a,b.example"), "a b.example");
  EXPECT_EQ(nodes("node[1-3,7]"), "node1 node2 node3 node7");
  EXPECT_EQ(nodes("login,n[08-11,100]-ib,z"), "login n08-ib n09-ib n10-ib n11-ib n100-ib z");
  EXPECT_EQ(nodes("r[1-2]n[0-1]"), "r1n0 r1n1 r2n0 r2n1");
}

TEST(Allocation, OddListsAreErrors) {
  for (const char* list : {"", ",a", "a,", "a[1-2", "a1-2]", "a[[1]]", "a]1["})
    EXPECT_EQ(nodes(list), fmt::format("'{}' is no list of nodes such as node[1-3,7]", list));
  for (const char* list : {"a[]", "a[x]", "a[3-1]", "a[1-]", "a[-2]", "a[1,]"})
    EXPECT_FALSE(nodes_of_list(list).ok()) << list;
  EXPECT_EQ(nodes_of_list("a[1-4096]").value().size(), 4096U);
  EXPECT_EQ(nodes("a[9223372036854775806-9223372036854775807]"), "a9223372036854775806 a9223372036854775807");
  for (const char* list : {"a[1-4097]", "a[0-99]b[0-99]", "a[1-4096],b", "a[0-9223372036854775807]"})
    EXPECT_EQ(nodes(list), "there are more than 4096 nodes");
}

TEST(Allocation, TasksArePlaces) {
  EXPECT_EQ(hosts({{"SLURM_JOB_NODELIST", "n[1-4]"}, {"SLURM_TASKS_PER_NODE", "2(x3),1"}}), "n1:2,n2:2,n3:2,n4:1");
  EXPECT_EQ(hosts({{"SLURM_JOB_NODELIST", "n[1-2]"}, {"SLURM_TASKS_PER_NODE", "8(x2)"}}), "n1:8,n2:8");
  EXPECT_EQ(hosts({{"SLURM_JOB_NODELIST", "a,b"}}), "a,b");
  EXPECT_TRUE(place_ranks(hosts({{"SLURM_JOB_NODELIST", "n[1-2]"}, {"SLURM_TASKS_PER_NODE", "3,1"}}), 4).ok());
}

TEST(Allocation, OddVariablesAreErrors) {
  EXPECT_EQ(hosts({}), "there is no Slurm allocation: SLURM_JOB_NODELIST is not set; run this within salloc or sbatch");
  EXPECT_EQ(hosts({{"SLURM_JOB_NODELIST", "a["}}), "SLURM_JOB_NODELIST: 'a[' is no list of nodes such as node[1-3,7]");
  EXPECT_EQ(
      hosts({{"SLURM_JOB_NODELIST", "a,b"}, {"SLURM_TASKS_PER_NODE", "2(x3)"}}),
      "SLURM_JOB_NODELIST is 'a,b' and SLURM_TASKS_PER_NODE is '2(x3)': they give different numbers of nodes; within a "
      "step of srun they do, so use the shell of salloc or a batch script");
  for (const char* tasks : {"", "x", "2(x", "2(x2", "2(x0)", "0(x2)", "2(x2)3", "2(x99999)", "1,"})
    EXPECT_FALSE(hosts_of_allocation({{"SLURM_JOB_NODELIST", "a,b"}, {"SLURM_TASKS_PER_NODE", tasks}}).ok()) << tasks;
}

}  // namespace
}  // namespace tutti::launch
