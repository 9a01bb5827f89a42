import type { ToolKind } from '@liminal/protocol';
import {
  ArrowRightLeft,
  Bot,
  Brain,
  FilePenLine,
  FileText,
  FolderInput,
  Globe,
  type LucideIcon,
  Search,
  Terminal,
  Trash2,
  Wrench,
} from 'lucide-react';

const icons: Record<ToolKind, LucideIcon> = {
  read: FileText,
  edit: FilePenLine,
  delete: Trash2,
  move: FolderInput,
  search: Search,
  execute: Terminal,
  think: Brain,
  fetch: Globe,
  switch_mode: ArrowRightLeft,
  other: Wrench,
};

interface ToolIconProps {
  kind: ToolKind | undefined;
  subagent?: boolean;
}

export function ToolIcon({ kind = 'other', subagent = false }: ToolIconProps) {
  const Icon = subagent ? Bot : icons[kind];
  return <Icon size={15} aria-hidden="true" />;
}
